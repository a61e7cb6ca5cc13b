// Waits until the CPU has written a word that is not 0.
//
// llvmpipe leaves every loop after 65,535 rounds, so there are many workgroups to wait one after the
// other; and it leaves none earlier unless a workgroup fills its vectors.

@group(0) @binding(0) var<storage, read_write> is_open: atomic<u32>;

@compute @workgroup_size(64)
fn wait() {
    while atomicLoad(&is_open) == 0u {}
}
