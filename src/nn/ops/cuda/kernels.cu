// Owns what a GPU computes of a training step besides matrix products: one kernel for each thing that passes over memory once.
// Must not know networks. Activations are channels last, weights in PyTorch's layouts, sums and everything but operands of products f32.
//
// Sums are taken in a fixed order: the same run comes to the same numbers.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

typedef unsigned long long u64;

template <typename T> __device__ __forceinline__ T operand(float x);
template <> __device__ __forceinline__ float operand<float>(float x) { return x; }
template <> __device__ __forceinline__ __half operand<__half>(float x) { return __float2half_rn(x); }
template <> __device__ __forceinline__ __nv_bfloat16 operand<__nv_bfloat16>(float x) { return __float2bfloat16_rn(x); }
__device__ __forceinline__ float number(float x) { return x; }
__device__ __forceinline__ float number(__half x) { return __half2float(x); }
__device__ __forceinline__ float number(__nv_bfloat16 x) { return __bfloat162float(x); }

// One thread a number.
#define EACH(count)                                              \
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;          \
    if (i >= (count)) return

// A convolution; `Geometry` in convolution.rs. `lead`: numbers in a row of patches, of which `size * size * channels` are pixels, then a 1 for the
// bias, then zeros up to a round number.
struct Geometry {
    unsigned images, height, width, channels, outputs, size, stride, padding, out_height, out_width, lead;
};

// The pixels under the kernel at each place, as rows of a matrix: [images * out_height * out_width, lead], in the order row, column, channel.
template <typename T> __device__ void patches(const float *x, T *rows, Geometry g)
{
    EACH(g.images * g.out_height * g.out_width * g.lead);
    unsigned column = i % g.lead, row = i / g.lead, pixels = g.size * g.size * g.channels;
    float value = column == pixels;
    if (column < pixels) {
        unsigned channel = column % g.channels, place = column / g.channels;
        int y = row / g.out_width % g.out_height * g.stride + place / g.size - g.padding;
        int u = row % g.out_width * g.stride + place % g.size - g.padding;
        unsigned image = row / (g.out_width * g.out_height);
        bool inside = y >= 0 && y < (int)g.height && u >= 0 && u < (int)g.width;
        value = inside ? x[((image * g.height + y) * g.width + u) * g.channels + channel] : 0;
    }
    rows[i] = operand<T>(value);
}

// Weights [outputs, channels, size, size] and a bias, if any, as [outputs, lead], in the order of a row of patches.
template <typename T> __device__ void pack(const float *weight, const float *bias, T *packed, Geometry g)
{
    EACH(g.outputs * g.lead);
    unsigned column = i % g.lead, output = i / g.lead, area = g.size * g.size, pixels = area * g.channels;
    float value = 0;
    if (column < pixels) value = weight[(output * g.channels + column % g.channels) * area + column / g.channels];
    else if (column == pixels && bias) value = bias[output];
    packed[i] = operand<T>(value);
}

// The way back: from [outputs, lead] to the gradients of weights and bias.
extern "C" __global__ void unpack(const float *packed, float *weight, float *bias, Geometry g)
{
    EACH(g.outputs * g.lead);
    unsigned column = i % g.lead, output = i / g.lead, area = g.size * g.size, pixels = area * g.channels;
    if (column < pixels) weight[(output * g.channels + column % g.channels) * area + column / g.channels] = packed[i];
    else if (column == pixels && bias) bias[output] = packed[i];
}

// The gradient of every pixel, from those of the patches it is in.
extern "C" __global__ void fold(const float *rows, float *x, Geometry g)
{
    EACH(g.images * g.height * g.width * g.channels);
    unsigned channel = i % g.channels, u = i / g.channels % g.width, y = i / (g.channels * g.width) % g.height;
    unsigned image = i / (g.channels * g.width * g.height);
    float sum = 0;
    for (unsigned down = 0; down < g.size; down++) {
        unsigned top = y + g.padding - down;
        if (top % g.stride || top / g.stride >= g.out_height) continue;
        for (unsigned right = 0; right < g.size; right++) {
            unsigned left = u + g.padding - right;
            if (left % g.stride || left / g.stride >= g.out_width) continue;
            unsigned row = (image * g.out_height + top / g.stride) * g.out_width + left / g.stride;
            sum += rows[row * g.lead + (down * g.size + right) * g.channels + channel];
        }
    }
    x[i] = sum;
}

// The largest of every 2x2 sums, and which it was; of equal ones the first. NaN is larger than all.
extern "C" __global__ void pool(const float *sums, float *result, unsigned char *places, Geometry g, unsigned relu)
{
    unsigned height = g.out_height / 2, width = g.out_width / 2;
    EACH(g.images * height * width * g.outputs);
    unsigned output = i % g.outputs, u = i / g.outputs % width, y = i / (g.outputs * width) % height;
    unsigned image = i / (g.outputs * width * height);
    const float *first = sums + (((u64)image * g.out_height + 2 * y) * g.out_width + 2 * u) * g.outputs + output;
    float best = first[0];
    unsigned place = 0;
    for (unsigned other = 1; other < 4; other++) {
        float value = first[((u64)(other >> 1) * g.out_width + (other & 1)) * g.outputs];
        if (value > best || value != value) best = value, place = other;
    }
    result[i] = relu && best <= 0 ? 0 : best;
    places[i] = place;
}

// The way back through it: the gradient goes to the sum that was largest.
template <typename T> __device__ void unpool(const float *gradient, const float *result, const unsigned char *places, T *sums, Geometry g, unsigned relu)
{
    EACH(g.images * g.out_height * g.out_width * g.outputs);
    unsigned output = i % g.outputs, u = i / g.outputs % g.out_width, y = i / (g.outputs * g.out_width) % g.out_height;
    unsigned image = i / (g.outputs * g.out_width * g.out_height), height = g.out_height / 2, width = g.out_width / 2;
    float value = 0;
    if (y / 2 < height && u / 2 < width) {
        unsigned pooled = ((image * height + y / 2) * width + u / 2) * g.outputs + output;
        if (places[pooled] == (y & 1) * 2 + (u & 1) && !(relu && result[pooled] <= 0)) value = gradient[pooled];
    }
    sums[i] = operand<T>(value);
}

// A bias for each column, and perhaps ReLU.
extern "C" __global__ void add_bias(float *sums, const float *bias, unsigned count, unsigned columns, unsigned relu)
{
    EACH(count);
    float value = sums[i] + bias[i % columns];
    sums[i] = relu && value <= 0 ? 0 : value;
}

// A gradient as the operand of a product, past ReLU where there is one.
template <typename T> __device__ void past_relu(const float *gradient, const float *result, T *live, unsigned count, unsigned relu)
{
    EACH(count);
    live[i] = operand<T>(relu && result[i] <= 0 ? 0 : gradient[i]);
}

// The sum of each column: a block for 32 columns, 32 by 32 threads.
template <typename T> __device__ void column_sums(const T *values, float *sums, unsigned rows, unsigned columns)
{
    __shared__ float part[32][33];
    unsigned column = blockIdx.x * 32 + threadIdx.x;
    float sum = 0;
    if (column < columns)
        for (unsigned row = threadIdx.y; row < rows; row += 32) sum += number(values[(u64)row * columns + column]);
    part[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y || column >= columns) return;
    sum = 0;
    for (unsigned row = 0; row < 32; row++) sum += part[row][threadIdx.x];
    sums[column] = sum;
}

#define OPERANDS(T, name)                                                                                                                      \
    extern "C" __global__ void patches_##name(const float *x, T *rows, Geometry g) { patches(x, rows, g); }                                    \
    extern "C" __global__ void pack_##name(const float *weight, const float *bias, T *packed, Geometry g) { pack(weight, bias, packed, g); }   \
    extern "C" __global__ void unpool_##name(const float *gradient, const float *result, const unsigned char *places, T *sums, Geometry g,     \
                                             unsigned relu)                                                                                    \
    { unpool(gradient, result, places, sums, g, relu); }                                                                                       \
    extern "C" __global__ void past_relu_##name(const float *gradient, const float *result, T *live, unsigned count, unsigned relu)            \
    { past_relu(gradient, result, live, count, relu); }                                                                                        \
    extern "C" __global__ void __launch_bounds__(1024) column_sums_##name(const T *values, float *sums, unsigned rows, unsigned columns)                               \
    { column_sums(values, sums, rows, columns); }

OPERANDS(float, f32)
OPERANDS(__half, f16)
OPERANDS(__nv_bfloat16, bf16)

// Each of the matrices [rows, columns], one after the other, transposed.
extern "C" __global__ void transpose_each(const float *x, float *result, unsigned count, unsigned rows, unsigned columns)
{
    EACH(count);
    unsigned row = i % rows, column = i / rows % columns, matrix = i / (rows * columns);
    result[i] = x[(matrix * rows + row) * columns + column];
}

// `Activation`, numbered from 1 as in pointwise.rs; 0 is none.
__device__ __forceinline__ float activated(float x, unsigned kind)
{
    switch (kind) {
    case 1: return x <= 0 ? 0 : x;
    case 2: return x <= 0 ? 0.01f * x : x;
    case 3: return x * normcdff(x);
    case 4: return x / (1 + expf(-x));
    case 5: return tanhf(x);
    default: return x;
    }
}

__device__ __forceinline__ float slope(float x, unsigned kind)
{
    switch (kind) {
    case 1: return x <= 0 ? 0 : 1;
    case 2: return x <= 0 ? 0.01f : 1;
    case 3: return normcdff(x) + x * 0.3989422804f * expf(-0.5f * x * x);
    case 4: { float share = 1 / (1 + expf(-x)); return share * (1 + x * (1 - share)); }
    case 5: { float y = tanhf(x); return 1 - y * y; }
    default: return 1;
    }
}

// The gradient that an activation passes at x. What ReLU kills is dead, also where it is infinite.
__device__ __forceinline__ float passed(float gradient, float x, unsigned kind)
{
    float factor = slope(x, kind);
    return factor == 0 ? 0 : gradient * factor;
}

// activation(a + b), or of `a` alone.
extern "C" __global__ void activate(const float *a, const float *b, float *result, unsigned count, unsigned kind)
{
    EACH(count);
    result[i] = activated(b ? a[i] + b[i] : a[i], kind);
}

extern "C" __global__ void activate_back(const float *a, const float *b, const float *gradient, float *result, unsigned count, unsigned kind)
{
    EACH(count);
    result[i] = passed(gradient[i], b ? a[i] + b[i] : a[i], kind);
}

// Inverted dropout by the numbers `random::Random` draws: a thread for each piece of 4096.
__device__ __forceinline__ u64 left(u64 x, int by) { return x << by | x >> (64 - by); }
__device__ u64 drawn(u64 *s)
{
    u64 result = left(s[0] + s[3], 23) + s[0], t = s[1] << 17;
    s[2] ^= s[0], s[3] ^= s[1], s[1] ^= s[2], s[0] ^= s[3], s[2] ^= t, s[3] = left(s[3], 45);
    return result;
}

extern "C" __global__ void dropout(const float *x, float *result, unsigned count, u64 seed, unsigned dropped, float scale)
{
    EACH((count + 4095) / 4096);
    u64 mix = seed ^ (u64)i * 0xD6E8FEB86659FD93ull, state[4];
    for (int word = 0; word < 4; word++) {
        mix += 0x9E3779B97F4A7C15ull;
        u64 z = mix;
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
        z = (z ^ z >> 27) * 0x94D049BB133111EBull;
        state[word] = z ^ z >> 31;
    }
    drawn(state);
    unsigned end = min(count, (i + 1) * 4096);
    for (unsigned place = i * 4096; place < end; place += 4) {
        u64 bits = drawn(state);
        for (unsigned one = 0; one < 4 && place + one < end; one++)
            result[place + one] = (bits >> 16 * one & 0xffff) < dropped ? 0 : x[place + one] * scale;
    }
}

// The mean over all places of a picture, [images, places, channels] to [images, channels], and the way back.
extern "C" __global__ void average(const float *x, float *means, unsigned count, unsigned places, unsigned channels)
{
    EACH(count);
    const float *first = x + (u64)(i / channels) * places * channels + i % channels;
    float sum = 0;
    for (unsigned place = 0; place < places; place++) sum += first[(u64)place * channels];
    means[i] = sum / places;
}

extern "C" __global__ void average_back(const float *gradient, float *x, unsigned count, unsigned places, unsigned channels)
{
    EACH(count);
    x[i] = gradient[i / (places * channels) * channels + i % channels] / places;
}

// What every block of 256 threads holds, added up in a fixed order; every thread has the sum.
__device__ float block_sum(float value)
{
    __shared__ float part[256];
    part[threadIdx.x] = value;
    __syncthreads();
    for (unsigned half = 128; half; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    value = part[0];
    __syncthreads();
    return value;
}

// Cross-entropy of logits [rows, classes] and the count of right answers, as ops::cross_entropy; one block of 256 threads. `ones` has a 1 at
// each label.
extern "C" __global__ void cross_entropy(const float *logits, const float *ones, float *result, unsigned rows, unsigned classes, float batch,
                                         float smoothing)
{
    float loss = 0, hits = 0;
    for (unsigned row = threadIdx.x; row < rows; row += 256) {
        const float *x = logits + row * classes, *one = ones + row * classes;
        float largest = x[0], sum = 0, total = 0;
        unsigned label = 0;
        for (unsigned k = 0; k < classes; k++) {
            largest = x[k] > largest ? x[k] : largest;
            label = one[k] == 1 ? k : label;
        }
        bool hit = true;
        for (unsigned k = 0; k < classes; k++) {
            sum += expf(x[k] - largest);
            hit = hit && (k == label || (k < label ? x[k] < x[label] : x[k] <= x[label]));
        }
        float normalizer = largest + logf(sum);
        for (unsigned k = 0; k < classes; k++) total += normalizer - x[k];
        loss += (1 - smoothing) * (normalizer - x[label]) + (smoothing > 0 ? smoothing / classes * total : 0);
        hits += hit && x[label] == x[label];
    }
    loss = block_sum(loss);
    hits = block_sum(hits);
    if (threadIdx.x == 0) result[0] = loss / batch, result[1] = hits;
}

// A thread for each row.
extern "C" __global__ void cross_entropy_back(const float *logits, const float *ones, const float *gradient, float *result, unsigned rows,
                                              unsigned classes, float batch, float smoothing)
{
    EACH(rows);
    const float *x = logits + i * classes;
    float largest = x[0], sum = 0, scale = gradient[0] / batch;
    for (unsigned k = 1; k < classes; k++) largest = x[k] > largest ? x[k] : largest;
    for (unsigned k = 0; k < classes; k++) sum += expf(x[k] - largest);
    float normalizer = largest + logf(sum);
    for (unsigned k = 0; k < classes; k++) {
        float target = smoothing / classes + (1 - smoothing) * ones[i * classes + k];
        result[i * classes + k] = (expf(x[k] - normalizer) - target) * scale;
    }
}

// Sums over the rows of [rows, channels] by stripes: blocks of 32 channels by 8 rows at a time, a stripe for each block along y.
// Of x first its mean in the stripe, then the squares of what is left: pieces put together as Chan et al. (1979) do.
#define STRIPE                                                                              \
    __shared__ float part[2][8][33];                                                        \
    unsigned channel = blockIdx.x * 32 + threadIdx.x;                                       \
    unsigned begin = (u64)rows * blockIdx.y / gridDim.y, end = (u64)rows * (blockIdx.y + 1) / gridDim.y

// The sums of eight rows of threads, which all get.
__device__ float over_rows(float part[8][33], float value)
{
    part[threadIdx.y][threadIdx.x] = value;
    __syncthreads();
    float sum = 0;
    for (unsigned row = 0; row < 8; row++) sum += part[row][threadIdx.x];
    __syncthreads();
    return sum;
}

extern "C" __global__ void moments(const float *x, float *means, float *squares, unsigned rows, unsigned channels)
{
    STRIPE;
    float sum = 0, square = 0;
    if (channel < channels)
        for (unsigned row = begin + threadIdx.y; row < end; row += 8) sum += x[(u64)row * channels + channel];
    float mean = over_rows(part[0], sum) / (end - begin);
    if (channel < channels)
        for (unsigned row = begin + threadIdx.y; row < end; row += 8) {
            float rest = x[(u64)row * channels + channel] - mean;
            square += rest * rest;
        }
    square = over_rows(part[1], square);
    if (threadIdx.y || channel >= channels) return;
    means[blockIdx.y * channels + channel] = mean;
    squares[blockIdx.y * channels + channel] = square;
}

// Puts stripes together into mean and 1 / standard deviation, [2, channels], and moves the running statistics.
extern "C" __global__ void join_moments(const float *means, const float *squares, float *statistics, float *running_mean, float *running_variance,
                                        unsigned rows, unsigned channels, unsigned stripes, float epsilon, float momentum)
{
    EACH(channels);
    float count = 0, mean = 0, square = 0;
    for (unsigned stripe = 0; stripe < stripes; stripe++) {
        float more = (u64)rows * (stripe + 1) / stripes - (u64)rows * stripe / stripes;
        float apart = means[stripe * channels + i] - mean, both = count + more;
        mean += apart * more / both;
        square += squares[stripe * channels + i] + apart * apart * count * more / both;
        count = both;
    }
    statistics[i] = mean;
    statistics[channels + i] = 1 / sqrtf(square / rows + epsilon);
    running_mean[i] += momentum * (mean - running_mean[i]);
    running_variance[i] += momentum * (square / (rows - 1) - running_variance[i]);
}

// What reading goes by: the running statistics as [2, channels].
extern "C" __global__ void running_moments(const float *running_mean, const float *running_variance, float *statistics, unsigned channels, float epsilon)
{
    EACH(channels);
    statistics[i] = running_mean[i];
    statistics[channels + i] = 1 / sqrtf(running_variance[i] + epsilon);
}

extern "C" __global__ void normalize(const float *x, const float *statistics, const float *weight, const float *bias, float *result, unsigned count,
                                     unsigned channels, unsigned kind)
{
    EACH(count);
    unsigned channel = i % channels;
    float scaled = (x[i] - statistics[channel]) * statistics[channels + channel];
    result[i] = activated(scaled * weight[channel] + bias[channel], kind);
}

// Of the gradient before the activation, in each channel and stripe: its sum, and that of its product with the normalised x.
extern "C" __global__ void normalize_sums(const float *x, const float *statistics, const float *weight, const float *bias, const float *gradient,
                                          float *sums, float *products, unsigned rows, unsigned channels, unsigned kind)
{
    STRIPE;
    float sum = 0, product = 0;
    if (channel < channels)
        for (unsigned row = begin + threadIdx.y; row < end; row += 8) {
            u64 place = (u64)row * channels + channel;
            float scaled = (x[place] - statistics[channel]) * statistics[channels + channel];
            float live = passed(gradient[place], scaled * weight[channel] + bias[channel], kind);
            sum += live;
            product += live * scaled;
        }
    sum = over_rows(part[0], sum);
    product = over_rows(part[1], product);
    if (threadIdx.y || channel >= channels) return;
    sums[blockIdx.y * channels + channel] = sum;
    products[blockIdx.y * channels + channel] = product;
}

// [stripes, channels] to [channels], twice.
extern "C" __global__ void join_sums(const float *sums, const float *products, float *sum, float *product, unsigned channels, unsigned stripes)
{
    EACH(channels);
    float first = 0, second = 0;
    for (unsigned stripe = 0; stripe < stripes; stripe++) first += sums[stripe * channels + i], second += products[stripe * channels + i];
    sum[i] = first;
    product[i] = second;
}

extern "C" __global__ void normalize_back(const float *x, const float *statistics, const float *weight, const float *bias, const float *gradient,
                                          const float *sum, const float *product, float *result, unsigned count, unsigned channels, unsigned rows,
                                          unsigned kind)
{
    EACH(count);
    unsigned channel = i % channels;
    float deviation = statistics[channels + channel], scaled = (x[i] - statistics[channel]) * deviation;
    float live = passed(gradient[i], scaled * weight[channel] + bias[channel], kind);
    result[i] = weight[channel] * deviation * (live - (sum[channel] + scaled * product[channel]) / rows);
}

// What is learned, in up to LISTED parameters at a time; `Lists` in advance.rs.
#define LISTED 64
struct Lists {
    float *weight[LISTED];
    const float *gradient[LISTED];
    unsigned length[LISTED], start[LISTED];
    float decay[LISTED];
    unsigned count;
};

// The squares of all gradients, a sum for each block of 256 threads, added to what is there from the lists before.
extern "C" __global__ void squares(Lists lists, float *parts, unsigned further)
{
    float sum = 0;
    for (unsigned list = 0; list < lists.count; list++)
        for (unsigned i = blockIdx.x * 256 + threadIdx.x; i < lists.length[list]; i += gridDim.x * 256) {
            float value = lists.gradient[list][i];
            sum += value * value;
        }
    sum = block_sum(sum);
    if (threadIdx.x == 0) parts[blockIdx.x] = further ? parts[blockIdx.x] + sum : sum;
}

// The norm of all gradients together, from the sums of `squares`; every thread of a block has it.
__device__ float norm_of(const float *parts, unsigned blocks)
{
    float sum = 0;
    for (unsigned part = threadIdx.x; part < blocks; part += 256) sum += parts[part];
    return sqrtf(block_sum(sum));
}

// One step of an optimiser; `Rule` in advance.rs. Clipped at the norm `clip` where it is above 0.
struct Rule {
    unsigned kind, nesterov;
    float rate, scale, clip, momentum;
    float beta1, beta2, epsilon, correction1, correction2;
};

extern "C" __global__ void advance(Lists lists, Rule rule, float *first, float *second, const float *parts, unsigned blocks, float *norm)
{
    float all = norm_of(parts, blocks) * rule.scale;
    if (blockIdx.x == 0 && threadIdx.x == 0) *norm = all;
    float scale = rule.scale * (rule.clip > 0 ? rule.clip / fmaxf(all, rule.clip) : 1);
    for (unsigned list = 0; list < lists.count; list++) {
        float decay = lists.decay[list];
        for (unsigned i = blockIdx.x * 256 + threadIdx.x; i < lists.length[list]; i += gridDim.x * 256) {
            unsigned place = lists.start[list] + i;
            float g = lists.gradient[list][i] * scale, w = lists.weight[list][i];
            if (rule.kind == 0) {
                float velocity = first[place] = rule.momentum * first[place] + g;
                float step = rule.nesterov ? g + rule.momentum * velocity : velocity;
                w = w - rule.rate * decay * w - rule.rate * step;
            } else {
                // 1: AdamW, whose decay is apart; 2: Adam.
                g = rule.kind == 2 ? g + decay * w : g;
                float m = first[place] = rule.beta1 * first[place] + (1 - rule.beta1) * g;
                float v = second[place] = rule.beta2 * second[place] + (1 - rule.beta2) * g * g;
                w = rule.kind == 1 ? w - rule.rate * decay * w : w;
                w -= rule.rate / rule.correction1 * m / (sqrtf(v / rule.correction2) + rule.epsilon);
            }
            lists.weight[list][i] = w;
        }
    }
}

// A share of each weight into its average.
extern "C" __global__ void follow(Lists lists, float *average, float share)
{
    for (unsigned list = 0; list < lists.count; list++)
        for (unsigned i = blockIdx.x * 256 + threadIdx.x; i < lists.length[list]; i += gridDim.x * 256) {
            unsigned place = lists.start[list] + i;
            average[place] = average[place] * (1 - share) + lists.weight[list][i] * share;
        }
}

// That norm alone; one block.
extern "C" __global__ void join_squares(const float *parts, unsigned blocks, float *result)
{
    float all = norm_of(parts, blocks);
    if (threadIdx.x == 0) *result = all;
}

// A batch: the pictures and labels at these positions, changed as `variations` says where there are some; a block for each picture.
// `data::augment` says what is done, train/device_batches.rs what stands where.
#define SIDE 28
#define MARGIN 2
#define WIDE (SIDE + 2 * MARGIN)
#define KNOTS 7
#define NUMBERS (7 + 2 * KNOTS * KNOTS)

__device__ __forceinline__ float between(float a, float b, float share) { return a + (b - a) * share; }

extern "C" __global__ void gather_batch(const unsigned char *images, const float *ones, const unsigned *order, const float *variations,
                                        const float *spline, float *pixels, float *labels, unsigned classes)
{
    const unsigned char *image = images + (u64)order[blockIdx.x] * SIDE * SIDE;
    float *result = pixels + (u64)blockIdx.x * SIDE * SIDE;
    for (unsigned k = threadIdx.x; k < classes; k += blockDim.x) labels[blockIdx.x * classes + k] = ones[order[blockIdx.x] * classes + k];
    if (!variations) {
        for (unsigned i = threadIdx.x; i < SIDE * SIDE; i += blockDim.x) result[i] = image[i];
        return;
    }
    const float *numbers = variations + (u64)blockIdx.x * NUMBERS;
    __shared__ float old[WIDE * WIDE], stroke[WIDE * WIDE], knots[2 * KNOTS * KNOTS];
    for (unsigned i = threadIdx.x; i < WIDE * WIDE; i += blockDim.x) {
        int y = (int)(i / WIDE) - MARGIN, x = (int)(i % WIDE) - MARGIN;
        old[i] = y >= 0 && y < SIDE && x >= 0 && x < SIDE ? image[y * SIDE + x] : 0;
    }
    for (unsigned i = threadIdx.x; i < 2 * KNOTS * KNOTS; i += blockDim.x) knots[i] = numbers[7 + i];
    __syncthreads();
    float wider = fmaxf(numbers[6], 0), narrower = fmaxf(-numbers[6], 0);
    for (unsigned i = threadIdx.x; i < WIDE * WIDE; i += blockDim.x) {
        unsigned y = i / WIDE, x = i % WIDE;
        float pixel = old[i], largest = pixel, smallest = pixel;
        bool inner = y > 0 && y < WIDE - 1 && x > 0 && x < WIDE - 1;
        const int beside[4] = {-1, 1, -WIDE, WIDE};
        for (int side = 0; inner && side < 4; side++) {
            largest = fmaxf(largest, old[(int)i + beside[side]]);
            smallest = fminf(smallest, old[(int)i + beside[side]]);
        }
        stroke[i] = pixel + (largest - pixel) * wider + (smallest - pixel) * narrower;
    }
    __syncthreads();
    const float middle = (SIDE - 1) / 2.0f;
    for (unsigned i = threadIdx.x; i < SIDE * SIDE; i += blockDim.x) {
        unsigned row = i / SIDE, column = i % SIDE;
        float u = column - middle - numbers[4], v = row - middle - numbers[5], at[2];
        for (unsigned axis = 0; axis < 2; axis++) {
            float bend = 0;
            for (unsigned b = 0; b < KNOTS; b++) {
                float down = 0;
                for (unsigned a = 0; a < KNOTS; a++) down += spline[row * KNOTS + a] * knots[(axis * KNOTS + a) * KNOTS + b];
                bend += down * spline[column * KNOTS + b];
            }
            float straight = u * numbers[2 * axis] + v * numbers[2 * axis + 1];
            at[axis] = fminf(fmaxf(straight + (middle + MARGIN) + bend, 0), WIDE - 2);
        }
        float x = floorf(at[0]), y = floorf(at[1]);
        const float *corner = stroke + (unsigned)y * WIDE + (unsigned)x;
        float upper = between(corner[0], corner[1], at[0] - x), lower = between(corner[WIDE], corner[WIDE + 1], at[0] - x);
        result[i] = floorf(between(upper, lower, at[1] - y) + 0.5f);
    }
}
