// What lies between matrices of the host and the tiles of the products. Compiled for each FLOAT, float or double: matrices
// are column by column, as the host has them.

typedef unsigned long long u64;
typedef unsigned short half_bits;

__device__ __forceinline__ half_bits to_half(float x) {
    half_bits y;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x));
    return y;
}
__device__ __forceinline__ float of_half(half_bits x) {
    float y;
    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x));
    return y;
}
// Eight numbers as halves, and what these leave of them.
__device__ __forceinline__ void store_halves(half_bits* to, u64 apart, int parts, const float* x) {
    alignas(16) half_bits first[8], rest[8];
    #pragma unroll
    for (int i = 0; i < 8; i++) {
        first[i] = to_half(x[i]);
        rest[i] = to_half(x[i] - of_half(first[i]));
    }
    *(uint4*)to = *(const uint4*)first;
    if (parts == 2) *(uint4*)(to + apart) = *(const uint4*)rest;
}
#define EACH(i, count) \
    for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < (count); i += (u64)gridDim.x * blockDim.x)

// (x - center) factor as halves: [tile][step of 16][part][8 coordinates][row][coordinate], zeros beyond n and d.
extern "C" __global__ void pack_samples(half_bits* out, const FLOAT* x, const double* center, double factor, int n, int d,
                                        int padded, int depth, int tile, int parts) {
    EACH(i, (u64)padded * depth * 2) {
        const u64 row = i % tile, eight = i / tile % (2 * depth), at = i / tile / (2 * depth);
        const u64 own = at * tile + row;
        float eights[8];
        #pragma unroll
        for (int e = 0; e < 8; e++) {
            const u64 k = eight * 8 + e;
            eights[e] = own < n && k < d ? (float)(((double)x[k * n + own] - center[k]) * factor) : 0.f;
        }
        const u64 step = (at * depth + eight / 2) * parts;
        store_halves(out + ((step * 2 + eight % 2) * tile + row) * 8, (u64)2 * tile * 8, parts, eights);
    }
}

// |x|^2 / 2 of what the halves stand for, `beyond` after the last sample.
extern "C" __global__ void sizes(float* out, const FLOAT* x, const double* center, double factor, int n, int d, int padded,
                                 int parts, float beyond) {
    EACH(i, (u64)padded) {
        double sum = 0.0;
        for (int k = 0; k < d && i < n; k++) {
            const float v = (float)(((double)x[(u64)k * n + i] - center[k]) * factor);
            const float first = of_half(to_half(v));
            const float both = parts == 2 ? first + of_half(to_half(v - first)) : first;
            sum += (double)both * both;
        }
        out[i] = i < n ? (float)(0.5 * sum) : beyond;
    }
}

// The same in double precision: [tile of 64][step of 16][sample][coordinate].
extern "C" __global__ void pack_samples_double(double* out, const FLOAT* x, const double* center, double factor, int n,
                                               int d, int padded, int depth) {
    EACH(i, (u64)padded * depth * 16) {
        const u64 row = i % 64, k = i / 64 % (depth * 16), at = i / 64 / (depth * 16), own = at * 64 + row;
        const double value = own < n && k < d ? ((double)x[k * n + own] - center[k]) * factor : 0.0;
        out[((at * depth + k / 16) * 64 + row) * 16 + k % 16] = value;
    }
}
extern "C" __global__ void sizes_double(double* out, const FLOAT* x, const double* center, double factor, int n, int d,
                                        int padded, double beyond) {
    EACH(i, (u64)padded) {
        double sum = 0.0;
        for (int k = 0; k < d && i < n; k++) {
            const double v = ((double)x[(u64)k * n + i] - center[k]) * factor;
            sum += v * v;
        }
        out[i] = i < n ? 0.5 * sum : beyond;
    }
}

// A power of two for each column of V that brings its largest entry to between 2^12 and 2^13; one block a column.
extern "C" __global__ void column_scales(float* out, const FLOAT* v, int m) {
    __shared__ double most[256];
    double own = 0.0;
    for (int i = threadIdx.x; i < m; i += 256) own = fmax(own, fabs((double)v[(u64)blockIdx.x * m + i]));
    most[threadIdx.x] = own;
    __syncthreads();
    for (int left = 128; left > 0; left >>= 1) {
        if (threadIdx.x < left) most[threadIdx.x] = fmax(most[threadIdx.x], most[threadIdx.x + left]);
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        int exponent = 0;
        const bool usable = most[0] > 0.0 && most[0] < 1e300;
        if (usable) frexp(most[0], &exponent);
        exponent = min(max(exponent, -100), 100);
        out[blockIdx.x] = usable ? ldexpf(1.f, 13 - exponent) : 1.f;
    }
}

// V as halves: [16 rows][part][8 rows][column][row], zeros beyond m and r.
extern "C" __global__ void pack_vectors(half_bits* out, const FLOAT* v, const float* scales, int m, int r, int padded,
                                        int columns, int parts) {
    const u64 eights = padded / 8;
    EACH(i, eights * columns) {
        const u64 eight = i % eights, c = i / eights;
        float own[8];
        #pragma unroll
        for (int e = 0; e < 8; e++) {
            const u64 j = eight * 8 + e;
            own[e] = j < m && c < r ? (float)((double)v[c * m + j] * scales[c]) : 0.f;
        }
        const u64 step = eight / 2 * parts;
        store_halves(out + ((step * 2 + eight % 2) * columns + c) * 8, (u64)2 * columns * 8, parts, own);
    }
}
// V row by row.
extern "C" __global__ void pack_vectors_double(double* out, const FLOAT* v, int m, int r, int padded, int columns) {
    EACH(i, (u64)padded * columns) {
        const u64 j = i % padded, c = i / padded;
        out[j * columns + c] = j < m && c < r ? (double)v[c * m + j] : 0.0;
    }
}

// The result column by column: sums of the shares in their order, without the factors of the values and of V.
extern "C" __global__ void unpack(FLOAT* out, const float* in, const float* scales, double factor, int n, int r, int height,
                                  int columns, int shares) {
    EACH(i, (u64)n * r) {
        const u64 row = i % n, c = i / n;
        double sum = 0.0;
        for (int s = 0; s < shares; s++) sum += (double)in[((u64)s * height + row) * columns + c];
        out[i] = (FLOAT)(sum * factor / (double)scales[c]);
    }
}
extern "C" __global__ void unpack_double(FLOAT* out, const double* in, int n, int r, int height, int columns, int shares) {
    EACH(i, (u64)n * r) {
        const u64 row = i % n, c = i / n;
        double sum = 0.0;
        for (int s = 0; s < shares; s++) sum += in[((u64)s * height + row) * columns + c];
        out[i] = (FLOAT)sum;
    }
}
