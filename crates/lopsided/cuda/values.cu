// What all kernels of products share: the function of a scalar product, and how a number becomes two halves.
//
// With s = <x, z>, a of the row and b of the column, all in the units that the host has scaled the samples to:
//   EXPONENTIAL  2^(s - a - b + shift)           rbf, and sne with the logarithm of the row's sum in a
//   INVERSE      scale / (1 + max(a + b - s, 0)) t
//   POWER        (scale s + shift)^degree        poly
//   LARGEST      max over the columns of s - b, instead of a product
// The factors bring values to about 2^15, where halves keep all their digits; the host takes them out of the result.

#define EXPONENTIAL 0
#define INVERSE 1
#define POWER 2
#define LARGEST 3

// The same order as `Shape` of the host.
struct Shape {
    float scale, shift;
    int degree;
    int depth;     // steps of 16 coordinates
    int stages;    // copies on their way at once
    int buffers;   // tiles of V on their way at once
    int resident;  // whether the rows stay in shared memory
    int first;     // first block of rows of this launch
    int tiles;     // tiles of columns in all
    int share;     // tiles of columns of a block
    int height;    // rows of the result of a share, padding included
};

#if defined(VALUE) && !defined(DOUBLE)

__device__ __forceinline__ float power_of_two(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// q[0], q[1] in a row with a0, q[2], q[3] in one with a1; columns with b0 and b1.
__device__ __forceinline__ void to_values(float* q, float a0, float a1, float b0, float b1, const Shape& f) {
#if VALUE == EXPONENTIAL
    q[0] = power_of_two(q[0] - a0 - b0);
    q[1] = power_of_two(q[1] - a0 - b1);
    q[2] = power_of_two(q[2] - a1 - b0);
    q[3] = power_of_two(q[3] - a1 - b1);
#elif VALUE == INVERSE
    q[0] = __fdividef(f.scale, fmaxf(a0 + b0 - q[0], 0.f) + 1.f);
    q[1] = __fdividef(f.scale, fmaxf(a0 + b1 - q[1], 0.f) + 1.f);
    q[2] = __fdividef(f.scale, fmaxf(a1 + b0 - q[2], 0.f) + 1.f);
    q[3] = __fdividef(f.scale, fmaxf(a1 + b1 - q[3], 0.f) + 1.f);
#elif VALUE == POWER
    float power[4];
    #pragma unroll
    for (int i = 0; i < 4; i++) {
        q[i] = fmaf(q[i], f.scale, f.shift);
        power[i] = f.degree & 1 ? q[i] : 1.f;
    }
    for (int left = f.degree >> 1; left > 0; left >>= 1) {
        #pragma unroll
        for (int i = 0; i < 4; i++) {
            q[i] *= q[i];
            if (left & 1) power[i] *= q[i];
        }
    }
    #pragma unroll
    for (int i = 0; i < 4; i++) q[i] = power[i];
#endif
}

// What is taken from a before it comes to `to_values`.
__device__ __forceinline__ float of_row(float a, const Shape& f) {
#if VALUE == EXPONENTIAL
    return a - f.shift;
#else
    return a;
#endif
}

__device__ __forceinline__ unsigned halves(float low, float high) {
    unsigned both;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}

// What two halves leave of their numbers, as halves.
__device__ __forceinline__ unsigned remainders(float low, float high, unsigned both) {
    float l, h;
    asm("{.reg .f16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h;}" : "=f"(l), "=f"(h) : "r"(both));
    return halves(low - l, high - h);
}

__device__ __forceinline__ float largest_of_quad(float m) {
    m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, 1));
    return fmaxf(m, __shfl_xor_sync(0xffffffffu, m, 2));
}

#endif
