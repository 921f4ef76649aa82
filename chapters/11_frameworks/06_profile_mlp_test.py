"""11/06: events, names and limits on paper; on a GPU with PyTorch a profile of the network too."""

import importlib.util

import kit

exercise = kit.exercise()

# Kernels that PyTorch 2 launches on cards from sm_75 to sm_90, shortened.
NAMES = {
    "void at::native::vectorized_elementwise_kernel<4, at::native::launch_clamp_scalar(...)>": (
        "PyTorch"
    ),
    "void at::native::elementwise_kernel<128, 2, gemm_epilogue<float> >": "PyTorch",
    "void at_cuda_detail::cub::DeviceScanKernel<Policy, at::native::gemm_op<float> >": "PyTorch",
    "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x64x8_stage3": "cuBLAS",
    "void cutlass::Kernel2<cutlass_80_simt_sgemm_256x128_8x4_tn_align1>": "cuBLAS",
    "nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_NTN": "cuBLAS",
    "void gemv2T_kernel_val<int, int, float, float, float, float, 128, 16, 4, 4>": "cuBLAS",
    "void cublasLt::splitKreduce_kernel<32, 16, int, float, float>": "cuBLAS",
    "void splitKreduce_kernel<32, 16, int, float, float>": "cuBLAS",
    "void cublasLt::epilogue::impl::globalKernel<8, 32, float, float>": "cuBLAS",
    "ampere_sgemm_128x64_tn": "cuBLAS",
    "triton_poi_fused_addmm_relu_0": "Triton",
    "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, 512, true, 1>": "cuDNN",
    "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)": "NCCL",
    "Memcpy HtoD (Pinned -> Device)": "driver",
    "Memset (Device)": "driver",
    "my_kernel(float const*, float*, int)": "unknown",
}


@kit.todo(2)
def test_names_say_who_wrote_a_kernel():
    for name in kit.cases("kernel", NAMES):
        got = exercise.author(name)
        kit.expect(got == NAMES[name], f"author() says {got}, expected {NAMES[name]}.")


@kit.todo(3)
def test_the_larger_share_is_the_limit():
    # 1 GFLOP and 1 MB in 20 us are 50 TFLOP/s and 50 GB/s.
    cases = {
        (1e9, 1e6, 20, 67e12, 4.8e12): ("arithmetic", 50 / 67),
        (1e6, 72e6, 20, 67e12, 4.8e12): ("memory", 3.6 / 4.8),
        (2e8, 1e7, 20, 67e12, 4.8e12): ("neither", 10 / 67),
        (1e9, 72e6, 20, 67e12, 4.8e12): ("memory", 3.6 / 4.8),
        (4e8, 1e7, 20, 67e12, 4.8e12): ("neither", 20 / 67),  # 0.2985
        (1e6, 29e6, 20, 67e12, 4.8e12): ("memory", 1.45 / 4.8),  # 0.3021
        # Another card, on which the same kernel meets the other wall.
        (1e9, 20e6, 20, 60e12, 2e12): ("arithmetic", 50 / 60),
        (1e9, 20e6, 20, 120e12, 2e12): ("memory", 1 / 2),
        (1e9, 20e6, 200, 8e12, 1e12): ("arithmetic", 5 / 8),
    }
    for arguments in kit.cases("flops, bytes, us, peaks", cases):
        what, share = exercise.limit(*arguments)
        wanted, near = cases[arguments]
        kit.expect(
            what == wanted and abs(share - near) < 1e-9,
            f"limit() says {what}, {share:.6g}; expected {wanted}, {near:.6g}.",
        )


# A forward pass of two layers, as a profile notes it: calls of the host, and kernels. What runs
# first, or most often, or longest in a single call is not what takes longest together.
EVENTS = [
    ("Memset (Device)", True, 1.0),
    ("copy", True, 60.0),
    ("aten::linear", False, 91.0),
    ("cudaLaunchKernel", False, 4.0),
    ("sgemm", True, 40.0),
    ("aten::relu", False, 22.0),
    ("relu", True, 3.0),
    ("aten::linear", False, 60.0),
    ("sgemm", True, 50.0),
    ("Memset (Device)", True, 1.5),
    ("relu", True, 5.0),
    ("Memset (Device)", True, 0.5),
    ("cudaDeviceSynchronize", False, 130.0),
]


@kit.todo(1)
def test_lists_what_ran_on_the_card():
    kernels = exercise.kernels_of([exercise.Event(*event) for event in EVENTS])
    kit.expect(kernels, "no kernel is listed.")
    host = [kernel.name for kernel in kernels if kernel.name.startswith(("aten::", "cuda"))]
    kit.expect(not host, f"{host and host[0]} is a call of the host, no kernel: look at on_card.")
    kit.expect(
        len(kernels) == 4,
        f"{len(kernels)} kernels are listed, of {[kernel.name for kernel in kernels]}: calls of "
        "the same name are added up, so there are four.",
    )
    times = [kernel.us for kernel in kernels]
    kit.expect(
        times == sorted(times, reverse=True),
        "the kernel that takes longest, all its calls together, is not first, or the shortest not "
        f"last: {', '.join(f'{kernel.name} {kernel.us:g} us' for kernel in kernels)}.",
    )
    got = [(kernel.name, kernel.calls, kernel.us) for kernel in kernels]
    wanted = [("sgemm", 2, 90.0), ("copy", 1, 60.0), ("relu", 2, 8.0), ("Memset (Device)", 3, 3.0)]
    kit.expect(got == wanted, f"name, calls and us are {got}, expected {wanted}.")


@kit.todo(1)
def test_names_are_compared_to_their_end():
    # Those of templates are thousands of characters long.
    names = ["void reduce_kernel<" + "Functor<" * 500 + end for end in ("float>", "double>")]
    kernels = exercise.kernels_of([exercise.Event(name, True, 2.0) for name in names])
    got = sorted(kernel.name[-20:] for kernel in kernels)
    wanted = sorted(name[-20:] for name in names)
    kit.expect(
        sorted(kernel.name for kernel in kernels) == sorted(names),
        f"the names end in {got}, expected {wanted}: two kernels whose names differ only there.",
    )


@kit.todo(1)
def test_a_profile_of_the_host_alone_has_no_kernel():
    for events in kit.cases("events", [[], [("aten::linear", False, 91.0)]]):
        kernels = exercise.kernels_of([exercise.Event(*event) for event in events])
        kit.expect(list(kernels) == [], f"{len(kernels)} kernels are listed; nothing ran.")


@kit.todo(3)
def test_a_layer_reads_weights_and_input_and_writes_its_output():
    for batch in kit.cases("batch", [1, 16, 4096]):
        width = exercise.WIDTH
        flops, moved = exercise.work_of_layer(batch)
        kit.expect(
            flops == 2 * batch * width**2,
            f"{flops} flops: each of batch x {width} results takes {width} multiplications and as "
            "many additions.",
        )
        kit.expect(
            moved == 4 * (width**2 + 2 * batch * width),
            f"{moved} bytes: weights, input and output once, 4 bytes each.",
        )


if kit.on_gpu and importlib.util.find_spec("torch"):
    import torch

    @kit.todo(1)
    def test_profiles_the_network():
        model = exercise.build()
        x = torch.rand(512, exercise.WIDTH, device="cuda")
        kernels = exercise.kernels_of(exercise.events_of(model, x))
        kit.expect(kernels, "no kernel is listed.")
        host = [kernel.name for kernel in kernels if kernel.name.startswith(("aten::", "cuda"))]
        kit.expect(
            not host, f"{host and host[0]} is a call of the host, no kernel: look at on_card."
        )
        times = [kernel.us for kernel in kernels]
        kit.expect(times == sorted(times, reverse=True), "the longest kernel is not first.")
        kit.expect(
            sum(kernel.calls for kernel in kernels) >= 2 * exercise.LAYERS - 1,
            f"{sum(kernel.calls for kernel in kernels)} launches are listed; {exercise.LAYERS} products"
            f" and {exercise.LAYERS} ReLUs ran.",
        )
        with torch.no_grad():
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            model(x)
            begin.record()
            for _ in range(20):
                model(x)
            end.record()
            end.synchronize()
        whole = begin.elapsed_time(end) / 20 * 1000
        kit.expect(
            0.5 * whole < sum(times) < 1.2 * whole,
            f"the kernels add up to {sum(times):.0f} us, and the "
            f"pass takes {whole:.0f} us: us is of all calls "
            "of a kernel together.",
        )

    @kit.todo(1)
    def test_products_take_most_of_the_time():
        x = torch.rand(4096, exercise.WIDTH, device="cuda")
        kernels = exercise.kernels_of(exercise.events_of(exercise.build(), x))
        products = sum(kernel.us for kernel in kernels if "at::native" not in kernel.name)
        kit.expect(
            products > 0.8 * sum(kernel.us for kernel in kernels),
            "less than 80 % of the time goes into what PyTorch did not write itself: ten products of "
            "4096 x 2048 x 2048 are most of the work.",
        )
