// A product with a kernel matrix on compute capability 9.0, by wgmma. Compiled for each PARTS (1: one half for a number,
// 2: two), STEPS of 16 coordinates at once, COLUMNS of V and VALUE; `wgmma_scores` and `wgmma_product` come from build.py.
//
// A block has GROUPS warpgroups that compute, 64 rows each, and one thread that copies ahead of them. For 128 columns of
// the matrix at a time:
//   1. scores = x z^T by wgmma from shared memory;
//   2. the kernel's function of them, in registers, split into halves;
//   3. times the tile of V by wgmma, the values as the operand in registers, into fresh sums that are then added in f32.
// Tiles lie packed in the order of wgmma's core matrices: [step of 16][part][8 coordinates][row][coordinate].

typedef unsigned u32;
typedef unsigned long long u64;

#define ROW_STEP (64 * 32 * PARTS)
#define COL_STEP (128 * 32 * PARTS)
#define VEC_STEP (COLUMNS * 32 * PARTS)
#if GROUPS == 3
#define COPYING_REGISTERS 32
#define COMPUTING_REGISTERS 160
#else
#define COPYING_REGISTERS 24
#define COMPUTING_REGISTERS 240
#endif

__device__ __forceinline__ void start_barrier(u32 at, int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at), "r"(count));
}
__device__ __forceinline__ void expect(u32 at, u32 bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(bytes) : "memory");
}
__device__ __forceinline__ void arrive(u32 at) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at) : "memory");
}
__device__ __forceinline__ void wait(u32 at, u32 phase) {
    asm volatile(
        "{\n.reg .pred p;\nagain: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra done;\nbra again;\ndone:\n}"
        ::"r"(at), "r"(phase) : "memory");
}
__device__ __forceinline__ void copy(u32 to, const void* from, u32 bytes, u32 barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(to), "l"(from), "r"(bytes), "r"(barrier) : "memory");
}
// A tile of core matrices: how far halves of 16 coordinates and groups of 8 rows are apart.
__device__ __forceinline__ u64 tile_at(u32 at, u32 coordinates) {
    return (u64)((at & 0x3ffff) >> 4) | ((u64)(coordinates >> 4) << 16) | ((u64)(128 >> 4) << 32);
}
#define FENCE asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define FINISH asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory")

// A place in a ring and how often it was gone round.
struct Ring {
    int at, size;
    u32 phase;
    __device__ __forceinline__ Ring(int size) : at(0), size(size), phase(0) {}
    __device__ __forceinline__ void next() {
        if (++at == size) {
            at = 0;
            phase ^= 1;
        }
    }
};

extern "C" __global__ void __launch_bounds__(128 * GROUPS + 128, 1)
product(Shape f, const char* __restrict__ rows, const char* __restrict__ cols, const char* __restrict__ v,
        const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ out) {
    extern __shared__ __align__(1024) char memory[];
    const u32 base = (u32)__cvta_generic_to_shared(memory);
    const u32 x_bytes = GROUPS * ROW_STEP * (f.resident ? f.depth : f.stages * STEPS);
    const u32 x_at = base, z_at = x_at + x_bytes, v_at = z_at + f.stages * STEPS * COL_STEP;
    const u32 b_at = v_at + f.buffers * 8 * VEC_STEP, full = b_at + f.buffers * 512, empty = full + 8 * f.stages;
    const u32 v_full = empty + 8 * f.stages, v_empty = v_full + 8 * f.buffers, x_full = v_empty + 8 * f.buffers;
    const float* b_tiles = (const float*)(memory + (b_at - base));
    const int thread = threadIdx.x, warp = __shfl_sync(0xffffffffu, thread >> 5, 0), lane = thread & 31;
    const int block = f.first + blockIdx.x, steps = f.depth / STEPS;
    const int from = blockIdx.y * f.share, to = min(f.tiles, from + f.share);
    if (thread == 0) {
        for (int i = 0; i < f.stages; i++) {
            start_barrier(full + 8 * i, 1);
            start_barrier(empty + 8 * i, 4 * GROUPS);
        }
        for (int i = 0; i < f.buffers; i++) {
            start_barrier(v_full + 8 * i, 1);
            start_barrier(v_empty + 8 * i, 4 * GROUPS);
        }
        start_barrier(x_full, 1);
        asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    const u32 row_tile = f.depth * ROW_STEP;
    const char* own_rows = rows + (size_t)block * GROUPS * row_tile;
    if (warp >= 4 * GROUPS) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(COPYING_REGISTERS));
        if (thread == 128 * GROUPS) {
            if (f.resident) {
                expect(x_full, GROUPS * row_tile);
                copy(x_at, own_rows, GROUPS * row_tile, x_full);
            }
            Ring ring(f.stages), tile(f.buffers);
            for (int t = from; t < to; t++) {
                for (int c = 0; c < steps; c++, ring.next()) {
                    const u32 bytes = STEPS * ROW_STEP, here = full + 8 * ring.at;
                    wait(empty + 8 * ring.at, ring.phase ^ 1);
                    expect(here, STEPS * COL_STEP + (f.resident ? 0 : GROUPS * bytes));
                    if (!f.resident)
                        for (int g = 0; g < GROUPS; g++)
                            copy(x_at + (ring.at * GROUPS + g) * bytes, own_rows + g * row_tile + c * bytes, bytes, here);
                    copy(z_at + ring.at * STEPS * COL_STEP, cols + ((size_t)t * f.depth + c * STEPS) * COL_STEP,
                         STEPS * COL_STEP, here);
                    if (c == 0) {
                        const u32 there = v_full + 8 * tile.at;
                        wait(v_empty + 8 * tile.at, tile.phase ^ 1);
#if VALUE == LARGEST
                        expect(there, 512);
#else
                        expect(there, 8 * VEC_STEP + 512);
                        copy(v_at + tile.at * 8 * VEC_STEP, v + (size_t)t * 8 * VEC_STEP, 8 * VEC_STEP, there);
#endif
                        copy(b_at + tile.at * 512, b + (size_t)t * 128, 512, there);
                        tile.next();
                    }
                }
            }
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(COMPUTING_REGISTERS));
        const int group = warp >> 2, quad = lane >> 2, t4 = lane & 3;
        const size_t row = (size_t)block * 64 * GROUPS + group * 64 + (warp & 3) * 16 + quad;
        const float a0 = of_row(a[row], f), a1 = of_row(a[row + 8], f);
#if VALUE == LARGEST
        float most0 = -3.4e38f, most1 = -3.4e38f;
#else
        float sums[COLUMNS / 2];
        #pragma unroll
        for (int i = 0; i < COLUMNS / 2; i++) sums[i] = 0.f;
#endif
        if (f.resident) wait(x_full, 0);
        Ring ring(f.stages), tile(f.buffers);
        for (int t = from; t < to; t++, tile.next()) {
            float p[64];
            // Where the next stage of the scores is added to those before it, and where it replaces what was there.
            auto next_scores = [&](int c, int keep) {
                wait(full + 8 * ring.at, ring.phase);
                const u32 x = x_at + (f.resident ? group * row_tile + c * STEPS * ROW_STEP
                                                 : (ring.at * GROUPS + group) * STEPS * ROW_STEP);
                const u32 z = z_at + ring.at * STEPS * COL_STEP;
                FENCE;
                #pragma unroll
                for (int k = 0; k < STEPS; k++) {
                    const u64 xs = tile_at(x + k * ROW_STEP, 1024), zs = tile_at(z + k * COL_STEP, 2048);
#if PARTS == 2
                    const u64 x_rest = tile_at(x + k * ROW_STEP + 2048, 1024);
                    const u64 z_rest = tile_at(z + k * COL_STEP + 4096, 2048);
                    wgmma_scores(p, x_rest, zs, k > 0 || keep);
                    wgmma_scores(p, xs, z_rest, 1);
                    wgmma_scores(p, xs, zs, 1);
#else
                    wgmma_scores(p, xs, zs, k > 0 || keep);
#endif
                }
                FINISH;
                if (lane == 0) arrive(empty + 8 * ring.at);
                ring.next();
            };
            // The sizes are in registers before the scores are there.
            wait(v_full + 8 * tile.at, tile.phase);
            const float* bs = b_tiles + tile.at * 128 + 2 * t4;
            float2 sizes[16];
            #pragma unroll
            for (int n = 0; n < 16; n++) sizes[n] = *(const float2*)(bs + n * 8);
            next_scores(0, 0);
            for (int c = 1; c < steps; c++) next_scores(c, 1);
#if VALUE == LARGEST
            #pragma unroll
            for (int n = 0; n < 16; n++) {
                most0 = fmaxf(most0, fmaxf(p[4 * n] - sizes[n].x, p[4 * n + 1] - sizes[n].y));
                most1 = fmaxf(most1, fmaxf(p[4 * n + 2] - sizes[n].x, p[4 * n + 3] - sizes[n].y));
            }
            if (lane == 0) arrive(v_empty + 8 * tile.at);
#else
            u32 values[8][4];
#if PARTS == 2
            u32 rest[8][4];
#endif
            #pragma unroll
            for (int n = 0; n < 16; n++) {
                float* q = p + 4 * n;
                to_values(q, a0, a1, sizes[n].x, sizes[n].y, f);
                u32* own = values[n / 2] + 2 * (n & 1);
                own[0] = halves(q[0], q[1]);
                own[1] = halves(q[2], q[3]);
#if PARTS == 2
                u32* own_rest = rest[n / 2] + 2 * (n & 1);
                own_rest[0] = remainders(q[0], q[1], own[0]);
                own_rest[1] = remainders(q[2], q[3], own[1]);
#endif
            }
            float fresh[COLUMNS / 2];
            const u32 vs = v_at + tile.at * 8 * VEC_STEP;
            FENCE;
            #pragma unroll
            for (int k = 0; k < 8; k++) {
                const u64 whole = tile_at(vs + k * VEC_STEP, COLUMNS * 16);
#if PARTS == 2
                const u64 v_rest = tile_at(vs + k * VEC_STEP + COLUMNS * 32, COLUMNS * 16);
                wgmma_product(fresh, rest[k], whole, k > 0);
                wgmma_product(fresh, values[k], v_rest, 1);
                wgmma_product(fresh, values[k], whole, 1);
#else
                wgmma_product(fresh, values[k], whole, k > 0);
#endif
            }
            FINISH;
            if (lane == 0) arrive(v_empty + 8 * tile.at);
            #pragma unroll
            for (int i = 0; i < COLUMNS / 2; i++) sums[i] += fresh[i];
#endif
        }
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
}
