// Waits until the CPU has written a word that is not 0.

@group(0) @binding(0) var<storage, read_write> is_open: atomic<u32>;

@compute @workgroup_size(1)
fn wait() {
    while atomicLoad(&is_open) == 0u {}
}
