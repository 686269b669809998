/// Returns a number with its noun, such as `1 file` and `2 files`.
func counted(_ count: some BinaryInteger, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

/// Returns a number of bytes in decimal units, as Apple's platforms show them.
func byteCount(_ bytes: Int64) -> String {
    guard bytes >= 1000 else { return counted(bytes, "byte") }
    let units = ["kB", "MB", "GB", "TB"]
    // Compute rounded tenths of the unit, so that 999,950 bytes are 1.0 MB and not 1000.0 kB.
    var tenths = (bytes + 50) / 100
    var unit = 0
    var divisor: Int64 = 1000
    while tenths >= 10_000, unit < units.count - 1 {
        unit += 1
        divisor *= 1000
        tenths = (bytes + divisor / 20) / (divisor / 10)
    }
    return "\(tenths / 10).\(tenths % 10) \(units[unit])"
}
