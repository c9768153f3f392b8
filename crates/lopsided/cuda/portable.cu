// A product with a kernel matrix by mma.sync, from compute capability 8.0 on: what hopper.cu does, from the same packed
// tiles, for cards that have no wgmma. Eight warps of 16 rows each; steps of 16 coordinates are copied one ahead.

typedef unsigned u32;

#define ROW_STEP (64 * 32 * PARTS)
#define COL_STEP (128 * 32 * PARTS)
#define VEC_STEP (COLUMNS * 32 * PARTS)
#define STAGE (2 * ROW_STEP + COL_STEP)

__device__ __forceinline__ void multiply(float* c, const u32* a, u32 b0, u32 b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ void load4(u32* r, u32 at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
}
__device__ __forceinline__ void load2(u32* r, u32 at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(at) : "memory");
}
__device__ __forceinline__ void copy(u32 to, const char* from, int bytes) {
    for (int i = threadIdx.x * 16; i < bytes; i += 256 * 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + i), "l"(from + i) : "memory");
}
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

extern "C" __global__ void __launch_bounds__(256, 1)
product(Shape f, const char* __restrict__ rows, const char* __restrict__ cols, const char* __restrict__ v,
        const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ out) {
    extern __shared__ __align__(1024) char memory[];
    const u32 base = (u32)__cvta_generic_to_shared(memory);
    const u32 v_at = base + 2 * STAGE, b_at = v_at + 8 * VEC_STEP;
    const float* bs = (const float*)(memory + 2 * STAGE + 8 * VEC_STEP);
    const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, quad = lane >> 2, t4 = lane & 3;
    const int block = f.first + blockIdx.x;
    const int from = blockIdx.y * f.share, to = min(f.tiles, from + f.share);
    const size_t row_tile = (size_t)f.depth * ROW_STEP;
    const char* own_rows = rows + (size_t)block * 2 * row_tile;
    const int all = (to - from) * f.depth;
    auto ahead = [&](int s) {
        if (s < all) {
            const u32 at = base + (s & 1) * STAGE;
            const int t = from + s / f.depth, k = s % f.depth;
            copy(at, own_rows + (size_t)k * ROW_STEP, ROW_STEP);
            copy(at + ROW_STEP, own_rows + row_tile + (size_t)k * ROW_STEP, ROW_STEP);
            copy(at + 2 * ROW_STEP, cols + ((size_t)t * f.depth + k) * COL_STEP, COL_STEP);
        }
        commit();
    };
    const size_t row = (size_t)block * 128 + warp * 16 + quad;
    const float a0 = of_row(a[row], f), a1 = of_row(a[row + 8], f);
    // Where a lane reads: of the rows 16 rows in two halves, of the columns and of V 8 in two halves and both parts.
    const u32 of_rows = (warp >> 2) * ROW_STEP + (lane >> 4) * 1024 + ((warp & 3) * 16 + (lane & 15)) * 16;
    const u32 of_cols = 2 * ROW_STEP + (lane >> 3) * 2048 + (lane & 7) * 16;
    const u32 of_v = (lane >> 3) * COLUMNS * 16 + (lane & 7) * 16;
#if VALUE == LARGEST
    float most0 = -3.4e38f, most1 = -3.4e38f;
#else
    float sums[COLUMNS / 2];
    #pragma unroll
    for (int i = 0; i < COLUMNS / 2; i++) sums[i] = 0.f;
#endif
    ahead(0);
    int s = 0;
    for (int t = from; t < to; t++) {
        // Everyone has left the tile of V before.
        __syncthreads();
#if VALUE != LARGEST
        copy(v_at, v + (size_t)t * 8 * VEC_STEP, 8 * VEC_STEP);
#endif
        copy(b_at, (const char*)(b + (size_t)t * 128), 512);
        commit();
        float p[64];
        #pragma unroll
        for (int i = 0; i < 64; i++) p[i] = 0.f;
        for (int k = 0; k < f.depth; k++, s++) {
            ahead(s + 1);
            asm volatile("cp.async.wait_group 1;" ::: "memory");
            __syncthreads();
            const u32 at = base + (s & 1) * STAGE;
            u32 x[4], z[4];
            load4(x, at + of_rows);
#if PARTS == 2
            u32 x_rest[4];
            load4(x_rest, at + of_rows + 2048);
#endif
            #pragma unroll
            for (int n = 0; n < 16; n++) {
#if PARTS == 2
                load4(z, at + of_cols + n * 128);
                multiply(p + 4 * n, x_rest, z[0], z[1]);
                multiply(p + 4 * n, x, z[2], z[3]);
#else
                load2(z, at + of_cols + n * 128);
#endif
                multiply(p + 4 * n, x, z[0], z[1]);
            }
            __syncthreads();
        }
#if VALUE == LARGEST
        #pragma unroll
        for (int n = 0; n < 16; n++) {
            const float2 both = *(const float2*)(bs + n * 8 + 2 * t4);
            most0 = fmaxf(most0, fmaxf(p[4 * n] - both.x, p[4 * n + 1] - both.y));
            most1 = fmaxf(most1, fmaxf(p[4 * n + 2] - both.x, p[4 * n + 3] - both.y));
        }
#else
        u32 values[8][4];
#if PARTS == 2
        u32 rest[8][4];
#endif
        #pragma unroll
        for (int n = 0; n < 16; n++) {
            const float2 both = *(const float2*)(bs + n * 8 + 2 * t4);
            float* q = p + 4 * n;
            to_values(q, a0, a1, both.x, both.y, f);
            u32* own = values[n / 2] + 2 * (n & 1);
            own[0] = halves(q[0], q[1]);
            own[1] = halves(q[2], q[3]);
#if PARTS == 2
            u32* own_rest = rest[n / 2] + 2 * (n & 1);
            own_rest[0] = remainders(q[0], q[1], own[0]);
            own_rest[1] = remainders(q[2], q[3], own[1]);
#endif
        }
        #pragma unroll
        for (int n = 0; n < COLUMNS / 8; n++) {
            float fresh[4] = {0.f, 0.f, 0.f, 0.f};
            #pragma unroll
            for (int k = 0; k < 8; k++) {
                u32 w[4];
#if PARTS == 2
                load4(w, v_at + k * VEC_STEP + of_v + n * 128);
                multiply(fresh, rest[k], w[0], w[1]);
                multiply(fresh, values[k], w[2], w[3]);
#else
                load2(w, v_at + k * VEC_STEP + of_v + n * 128);
#endif
                multiply(fresh, values[k], w[0], w[1]);
            }
            #pragma unroll
            for (int i = 0; i < 4; i++) sums[4 * n + i] += fresh[i];
        }
#endif
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    const size_t place = (size_t)blockIdx.y * f.height + row;
#if VALUE == LARGEST
    most0 = largest_of_quad(most0);
    most1 = largest_of_quad(most1);
    if (t4 == 0) {
        out[place] = most0;
        out[place + 8] = most1;
    }
#else
    #pragma unroll
    for (int n = 0; n < COLUMNS / 8; n++) {
        float* o = out + place * COLUMNS + n * 8 + 2 * t4;
        *(float2*)o = make_float2(sums[4 * n], sums[4 * n + 1]);
        *(float2*)(o + 8 * COLUMNS) = make_float2(sums[4 * n + 2], sums[4 * n + 3]);
    }
#endif
}
