// A product with a kernel matrix in double precision, by mma.sync, from compute capability 8.0 on.
//
// A block has 64 rows and takes 64 columns at a time. Eight warps: four bands of 16 rows times two halves of the columns,
// of the matrix first and of V then; the values go from one layout to the other through shared memory.
// Samples lie packed as [tile of 64][step of 16 coordinates][sample][coordinate], V row by row.

typedef unsigned u32;

#define STEP_PITCH 20                  // doubles between two samples of a step: no bank meets another
#define VALUE_PITCH 68
#define V_PITCH (COLUMNS + 4)
#define OWN (COLUMNS / 16)             // groups of 8 columns of V of a warp

__device__ __forceinline__ void multiply(double* c, double a, double b) {
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1},{%2},{%3},{%0,%1};"
                 : "+d"(c[0]), "+d"(c[1]) : "d"(a), "d"(b));
}
__device__ __forceinline__ void copy16(u32 to, const void* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

__device__ __forceinline__ double value(double s, double a, double b, const Shape& f, double scale, double shift) {
#if VALUE == EXPONENTIAL
    return exp2(s - a - b);
#elif VALUE == INVERSE
    return 1.0 / (1.0 + fmax(a + b - s, 0.0));
#elif VALUE == POWER
    double base = fma(s, scale, shift), power = f.degree & 1 ? base : 1.0;
    for (int left = f.degree >> 1; left > 0; left >>= 1) {
        base *= base;
        if (left & 1) power *= base;
    }
    return power;
#else
    return s - b;
#endif
}

extern "C" __global__ void __launch_bounds__(256)
product(Shape f, const double* __restrict__ rows, const double* __restrict__ cols, const double* __restrict__ v,
        const double* __restrict__ a, const double* __restrict__ b, double* __restrict__ out, double scale, double shift) {
    extern __shared__ __align__(128) double doubles[];
    double *xs = doubles, *zs = xs + 2 * 64 * STEP_PITCH, *values = zs + 2 * 64 * STEP_PITCH;
    double* vs = values + 64 * VALUE_PITCH;
    const int thread = threadIdx.x, lane = thread & 31, warp = thread >> 5;
    const int band = warp >> 1, half = warp & 1, quad = lane >> 2, t4 = lane & 3;
    const u32 x_at = (u32)__cvta_generic_to_shared(xs), z_at = (u32)__cvta_generic_to_shared(zs);
    const u32 v_at = (u32)__cvta_generic_to_shared(vs);
    const int block = f.first + blockIdx.x;
    const int from = blockIdx.y * f.share, to = min(f.tiles, from + f.share);
    const double* own_rows = rows + (size_t)block * f.depth * 64 * 16;
    const int all = (to - from) * f.depth;
    auto ahead = [&](int s) {
        if (s < all) {
            const int t = from + s / f.depth, c = s % f.depth, buffer = (s & 1) * 64;
            const double *z = cols + ((size_t)t * f.depth + c) * 64 * 16, *x = own_rows + (size_t)c * 64 * 16;
            for (int i = thread; i < 64 * 8; i += 256) {
                const int r = i >> 3, q = i & 7, to = ((buffer + r) * STEP_PITCH + q * 2) * 8;
                copy16(z_at + to, z + i * 2);
                copy16(x_at + to, x + i * 2);
            }
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    const size_t row = (size_t)block * 64 + band * 16 + quad;
    const double as[2] = {a[row], a[row + 8]};
#if VALUE == LARGEST
    double most[2] = {-1e300, -1e300};
#else
    double sums[2][OWN][2];
    #pragma unroll
    for (int m = 0; m < 2; m++)
        #pragma unroll
        for (int n = 0; n < OWN; n++) sums[m][n][0] = sums[m][n][1] = 0.0;
#endif
    ahead(0);
    int s = 0;
    for (int t = from; t < to; t++) {
        double p[2][4][2];
        #pragma unroll
        for (int m = 0; m < 2; m++)
            #pragma unroll
            for (int n = 0; n < 4; n++) p[m][n][0] = p[m][n][1] = 0.0;
        for (int c = 0; c < f.depth; c++, s++) {
            asm volatile("cp.async.wait_group 0;" ::: "memory");
            __syncthreads();
#if VALUE != LARGEST
            if (c == 0) {
                const double* own_v = v + (size_t)t * 64 * COLUMNS;
                for (int i = thread; i < 64 * COLUMNS / 2; i += 256) {
                    const int r = i / (COLUMNS / 2), q = i - r * (COLUMNS / 2);
                    copy16(v_at + (r * V_PITCH + q * 2) * 8, own_v + i * 2);
                }
            }
#endif
            ahead(s + 1);
            const double* x = xs + ((s & 1) * 64 + band * 16) * STEP_PITCH;
            const double* z = zs + ((s & 1) * 64 + half * 32) * STEP_PITCH;
            #pragma unroll
            for (int k = 0; k < 16; k += 4) {
                const double x0 = x[quad * STEP_PITCH + k + t4], x1 = x[(8 + quad) * STEP_PITCH + k + t4];
                #pragma unroll
                for (int n = 0; n < 4; n++) {
                    const double w = z[(n * 8 + quad) * STEP_PITCH + k + t4];
                    multiply(p[0][n], x0, w);
                    multiply(p[1][n], x1, w);
                }
            }
        }
        #pragma unroll
        for (int n = 0; n < 4; n++) {
            const int col = half * 32 + n * 8 + 2 * t4;
            const double2 bs = *(const double2*)(b + (size_t)t * 64 + col);
            #pragma unroll
            for (int m = 0; m < 2; m++) {
                double2 two;
                two.x = value(p[m][n][0], as[m], bs.x, f, scale, shift);
                two.y = value(p[m][n][1], as[m], bs.y, f, scale, shift);
#if VALUE == LARGEST
                most[m] = fmax(most[m], fmax(two.x, two.y));
#else
                *(double2*)(values + (band * 16 + m * 8 + quad) * VALUE_PITCH + col) = two;
#endif
            }
        }
#if VALUE != LARGEST
        asm volatile("cp.async.wait_group 0;" ::: "memory");
        __syncthreads();
        const double *g = values + band * 16 * VALUE_PITCH, *w = vs + half * 8 * OWN;
        #pragma unroll 4
        for (int k = 0; k < 64; k += 4) {
            const double g0 = g[quad * VALUE_PITCH + k + t4], g1 = g[(8 + quad) * VALUE_PITCH + k + t4];
            #pragma unroll
            for (int n = 0; n < OWN; n++) {
                const double own = w[(k + t4) * V_PITCH + n * 8 + quad];
                multiply(sums[0][n], g0, own);
                multiply(sums[1][n], g1, own);
            }
        }
#endif
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    const size_t place = (size_t)blockIdx.y * f.height + row;
#if VALUE == LARGEST
    // The two halves of the columns meet in shared memory.
    __syncthreads();
    #pragma unroll
    for (int m = 0; m < 2; m++) {
        most[m] = fmax(most[m], __shfl_xor_sync(0xffffffffu, most[m], 1));
        most[m] = fmax(most[m], __shfl_xor_sync(0xffffffffu, most[m], 2));
        if (half == 1 && t4 == 0) values[band * 16 + m * 8 + quad] = most[m];
    }
    __syncthreads();
    #pragma unroll
    for (int m = 0; m < 2; m++)
        if (half == 0 && t4 == 0) out[place + m * 8] = fmax(most[m], values[band * 16 + m * 8 + quad]);
#else
    #pragma unroll
    for (int m = 0; m < 2; m++)
        #pragma unroll
        for (int n = 0; n < OWN; n++)
            *(double2*)(out + (place + m * 8) * COLUMNS + half * 8 * OWN + n * 8 + 2 * t4) =
                make_double2(sums[m][n][0], sums[m][n][1]);
#endif
}
