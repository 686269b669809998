/// A number of bytes in decimal units, as Apple's platforms show them.
struct ByteCount: CustomStringConvertible {
    let bytes: Int64

    init(_ bytes: Int64) { self.bytes = bytes }

    var description: String {
        guard bytes >= 1000 else { return bytes == 1 ? "1 byte" : "\(bytes) bytes" }
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
}
