import TenureContent

/// The header of a file in a ustar archive (POSIX.1-1988): 512 bytes.
///
/// Only the path and the size depend on the file. The mode is always 644, and there is no owner and no time. So the
/// same files give the same bytes.
enum UstarHeader {
    /// The size of the header in bytes.
    static let size = 512

    /// Returns the header of a file. Nil if the path or the size doesn't fit.
    static func bytes(path: String, size: Int64) -> [UInt8]? {
        guard let fields = AssetPath.ustarFields(of: path), (0...PackManifest.maximumFileSize).contains(size) else {
            return nil
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.size)
        func add(_ text: String, width: Int) {
            bytes += text.utf8
            bytes += repeatElement(0, count: max(0, width - text.utf8.count))
        }
        add(fields.name, width: 100)
        add("0000644", width: 8)  // mode
        add("0000000", width: 8)  // user
        add("0000000", width: 8)  // group
        add(Self.octal(size, digits: 11), width: 12)
        add("00000000000", width: 12)  // time of modification
        // The checksum is computed with blanks in its own field.
        add("        ", width: Self.checksum.count)
        add("0", width: 1)  // type: a regular file
        add("", width: 100)  // target of a link
        add("ustar", width: 6)
        add("00", width: 2)  // version
        add("", width: 32)  // name of the user
        add("", width: 32)  // name of the group
        add("0000000", width: 8)  // device, major
        add("0000000", width: 8)  // device, minor
        add(fields.prefix, width: 155)
        add("", width: 12)  // padding to 512 bytes
        let sum = bytes.reduce(Int64(0)) { $0 + Int64($1) }
        bytes.replaceSubrange(Self.checksum, with: Array(Self.octal(sum, digits: 6).utf8) + [0, UInt8(ascii: " ")])
        return bytes
    }

    /// The position of the checksum in the header.
    private static let checksum = 148..<156

    /// Returns the number in base 8, with zeros before it if it is shorter than `digits`.
    private static func octal(_ number: Int64, digits: Int) -> String {
        let text = String(number, radix: 8)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}
