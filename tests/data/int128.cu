// Arithmetic on 128-bit integers, whose parts the compiler joins by the carry flag.
// nvcc 13.0 -ptx -arch=sm_75, with -O0 -G, -Xcicc -O1 and -O3: int128_O0.ptx, _O1 and _O3. What serves debuggers is left out.
typedef __int128 s128;
typedef unsigned __int128 u128;

extern "C" __global__ void unsigned_parts(u128 *out, const u128 *a, const u128 *b)
{
    int i = threadIdx.x;
    u128 x = a[i], y = b[i];
    out += 8 * i;
    out[0] = x / y;
    out[1] = x % y;
    out[2] = x * y;
    out[3] = x + y;
    out[4] = x - y;
    out[5] = x << (int)(y & 127);
    out[6] = x >> (int)(y & 127);
    out[7] = (u128)(x < y) | (u128)(x == y) << 64;
}

extern "C" __global__ void signed_parts(s128 *out, const s128 *a, const s128 *b)
{
    int i = threadIdx.x;
    s128 x = a[i], y = b[i];
    out += 8 * i;
    out[0] = x / y;
    out[1] = x % y;
    out[2] = x * y;
    out[3] = -x;
    out[4] = x - y;
    out[5] = x >> (int)(y & 127);
    out[6] = (s128)(long long)x * (long long)y;
    out[7] = (s128)(x < y) | (s128)(x >= y) << 64;
}
