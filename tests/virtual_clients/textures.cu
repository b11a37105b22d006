// Textures and surfaces by the runtime: arrays, layers, mipmaps, linear and pitched memory. Prints what a plain
// loop on the host finds different, nothing else.
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                    \
    do {                                                                               \
        cudaError_t code = (call);                                                     \
        if (code != cudaSuccess) {                                                     \
            printf("%s: %s\n", #call, cudaGetErrorName(code));                         \
            exit(1);                                                                   \
        }                                                                              \
    } while (0)

const int W = 24, H = 10, L = 3;

__global__ void invert(cudaSurfaceObject_t pixels, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        uchar4 color;
        surf2Dread(&color, pixels, x * 4, y);
        color = make_uchar4(255 - color.x, 255 - color.y, 255 - color.z, color.w);
        surf2Dwrite(color, pixels, x * 4, y);
    }
}

__global__ void sample(cudaTextureObject_t image, float *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        out[y * width + x] = tex2D<float>(image, x + 1.0f, y + 0.5f);
}

__global__ void colors(cudaTextureObject_t image, float4 *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        out[y * width + x] = tex2D<float4>(image, x + 0.5f, y + 0.5f);
}

__global__ void layers(cudaTextureObject_t image, int *out, int width, int height) {
    int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
    out[(z * height + y) * width + x] = tex2DLayered<int>(image, x + 0.5f, y + 0.5f, z);
}

__global__ void linear(cudaTextureObject_t image, int *out, int count) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x < count) out[x] = tex1Dfetch<int>(image, count - 1 - x);
}

__global__ void levels(cudaTextureObject_t image, float *out) {
    out[threadIdx.x] = tex2DLod<float>(image, 0.5f, 0.5f, threadIdx.x * 0.5f);
}

static cudaResourceDesc of(cudaArray_t array) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    return resource;
}

int main() {
    int differ = 0;
    dim3 block(8, 4), grid((W + 7) / 8, (H + 3) / 4);

    // A surface that is inverted in place, then a texture of fractions of it.
    std::vector<uchar4> picture(W * H);
    for (int i = 0; i < W * H; i++) picture[i] = make_uchar4(i, i * 3, i * 7, 9);
    cudaArray_t array;
    cudaChannelFormatDesc four = cudaCreateChannelDesc<uchar4>();
    CHECK(cudaMallocArray(&array, &four, W, H, cudaArraySurfaceLoadStore));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, picture.data(), W * 4, W * 4, H, cudaMemcpyHostToDevice));
    cudaResourceDesc resource = of(array);
    cudaSurfaceObject_t pixels;
    CHECK(cudaCreateSurfaceObject(&pixels, &resource));
    invert<<<grid, block>>>(pixels, W, H);
    cudaTextureDesc how = {};
    how.readMode = cudaReadModeNormalizedFloat;
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    cudaTextureObject_t image;
    CHECK(cudaCreateTextureObject(&image, &resource, &how, nullptr));
    float4 *fractions;
    CHECK(cudaMalloc(&fractions, W * H * sizeof(float4)));
    colors<<<grid, block>>>(image, fractions, W, H);
    std::vector<float4> seen(W * H);
    CHECK(cudaMemcpy(seen.data(), fractions, W * H * sizeof(float4), cudaMemcpyDeviceToHost));
    for (int i = 0; i < W * H; i++)
        differ += seen[i].x != (255 - picture[i].x) / 255.0f || seen[i].w != 9 / 255.0f;
    std::vector<uchar4> back(W * H);
    CHECK(cudaMemcpy2DFromArray(back.data(), W * 4, array, 0, 0, W * 4, H, cudaMemcpyDeviceToHost));
    for (int i = 0; i < W * H; i++) differ += back[i].y != (unsigned char)(255 - picture[i].y);
    printf("fractions %d\n", differ);

    // Pitched memory with a linear filter half way between neighbours.
    float *rows;
    size_t pitch;
    std::vector<float> plane(W * H);
    for (int i = 0; i < W * H; i++) plane[i] = i * i % 101;
    CHECK(cudaMallocPitch(&rows, &pitch, W * sizeof(float), H));
    CHECK(cudaMemcpy2D(rows, pitch, plane.data(), W * 4, W * 4, H, cudaMemcpyHostToDevice));
    resource = {};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = rows;
    resource.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    resource.res.pitch2D.width = W;
    resource.res.pitch2D.height = H;
    resource.res.pitch2D.pitchInBytes = pitch;
    how.readMode = cudaReadModeElementType;
    how.filterMode = cudaFilterModeLinear;
    cudaTextureObject_t smooth;
    CHECK(cudaCreateTextureObject(&smooth, &resource, &how, nullptr));
    float *out;
    CHECK(cudaMalloc(&out, W * H * L * 4));
    sample<<<grid, block>>>(smooth, out, W, H);
    std::vector<float> found(W * H);
    CHECK(cudaMemcpy(found.data(), out, W * H * 4, cudaMemcpyDeviceToHost));
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            differ += found[y * W + x] != (plane[y * W + x] + plane[y * W + (x + 1 < W ? x + 1 : x)]) / 2;
    printf("pitched %d\n", differ);

    // Layers, copied as a volume.
    std::vector<int> volume(W * H * L);
    for (int i = 0; i < W * H * L; i++) volume[i] = i - 100;
    cudaChannelFormatDesc whole = cudaCreateChannelDesc<int>();
    cudaArray_t stack;
    CHECK(cudaMalloc3DArray(&stack, &whole, make_cudaExtent(W, H, L), cudaArrayLayered));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(volume.data(), W * 4, W, H);
    copy.dstArray = stack;
    copy.extent = make_cudaExtent(W, H, L);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    resource = of(stack);
    how.filterMode = cudaFilterModePoint;
    cudaTextureObject_t many;
    CHECK(cudaCreateTextureObject(&many, &resource, &how, nullptr));
    layers<<<L, dim3(W, H)>>>(many, (int *)out, W, H);
    std::vector<int> stacked(W * H * L);
    CHECK(cudaMemcpy(stacked.data(), out, W * H * L * 4, cudaMemcpyDeviceToHost));
    for (int i = 0; i < W * H * L; i++) differ += stacked[i] != volume[i];
    printf("layers %d\n", differ);

    // Linear memory.
    int *line;
    CHECK(cudaMalloc(&line, W * 4));
    CHECK(cudaMemcpy(line, volume.data(), W * 4, cudaMemcpyHostToDevice));
    resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = line;
    resource.res.linear.desc = whole;
    resource.res.linear.sizeInBytes = W * 4;
    cudaTextureObject_t flat;
    CHECK(cudaCreateTextureObject(&flat, &resource, &how, nullptr));
    linear<<<1, 32>>>(flat, (int *)out, W);
    CHECK(cudaMemcpy(stacked.data(), out, W * 4, cudaMemcpyDeviceToHost));
    for (int i = 0; i < W; i++) differ += stacked[i] != volume[W - 1 - i];
    printf("linear %d\n", differ);

    // A mipmap whose levels hold their numbers.
    cudaMipmappedArray_t pyramid;
    cudaChannelFormatDesc one = cudaCreateChannelDesc<float>();
    CHECK(cudaMallocMipmappedArray(&pyramid, &one, make_cudaExtent(16, 16, 0), 5));
    for (int level = 0; level < 5; level++) {
        int edge = 16 >> level;
        std::vector<float> data(edge * edge, (float)level);
        cudaArray_t part;
        CHECK(cudaGetMipmappedArrayLevel(&part, pyramid, level));
        CHECK(cudaMemcpy2DToArray(part, 0, 0, data.data(), edge * 4, edge * 4, edge, cudaMemcpyHostToDevice));
    }
    resource = {};
    resource.resType = cudaResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = pyramid;
    how.normalizedCoords = 1;
    how.mipmapFilterMode = cudaFilterModeLinear;
    how.maxMipmapLevelClamp = 10;
    cudaTextureObject_t pyramids;
    CHECK(cudaCreateTextureObject(&pyramids, &resource, &how, nullptr));
    levels<<<1, 10>>>(pyramids, out);
    CHECK(cudaMemcpy(found.data(), out, 10 * 4, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 10; i++) differ += found[i] != (i < 8 ? i * 0.5f : 4);
    printf("levels %d\n", differ);

    for (cudaTextureObject_t texture : {image, smooth, many, flat, pyramids}) CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaDestroySurfaceObject(pixels));
    CHECK(cudaFreeArray(array));
    CHECK(cudaFreeArray(stack));
    CHECK(cudaFreeMipmappedArray(pyramid));
    printf("%s\n", cudaGetErrorName(cudaFreeArray(array)));
    return differ != 0;
}
