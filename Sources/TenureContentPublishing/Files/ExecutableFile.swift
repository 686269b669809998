/// Recognizes programs and libraries by the first bytes of a file. Apple's App Review Guideline 2.5.2 forbids apps to
/// download such files.
enum ExecutableFile {
    /// Returns the name of the file's executable format. Nil if the file isn't executable.
    static func format(of file: borrowing OpenFile) throws(PublishingError) -> String? {
        let start = try file.bytes(64, at: 0)
        if let magic = number(in: start, at: 0, isBigEndian: true), let format = formats[magic] { return format }
        // PE: byte 60 of the DOS header has the offset of the Windows header.
        guard start.starts(with: Array("MZ".utf8)), let offset = number(in: start, at: 60, isBigEndian: false),
            try file.bytes(4, at: Int64(offset)) == Array("PE\0\0".utf8)
        else { return nil }
        return "a Windows program (PE)"
    }

    /// The names of the formats, by the first four bytes of a file.
    private static let formats: [UInt32: String] = {
        var formats: [UInt32: String] = [0x7F45_4C46: "a Linux program or library (ELF)"]
        // Files of 32 and 64 bits, fat files, and fat files with 64-bit offsets. Java classes begin like fat files, and
        // they are also code.
        for magic: UInt32 in [0xFEED_FACE, 0xFEED_FACF, 0xCAFE_BABE, 0xCAFE_BABF] {
            formats[magic] = "a Mach-O program or library"
            formats[magic.byteSwapped] = "a Mach-O program or library"
        }
        return formats
    }()

    /// Returns the four bytes at an offset as a number. Nil if `bytes` ends before.
    private static func number(in bytes: [UInt8], at offset: Int, isBigEndian: Bool) -> UInt32? {
        guard bytes.count >= offset + 4 else { return nil }
        let four = bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
        return isBigEndian ? four : four.byteSwapped
    }
}
