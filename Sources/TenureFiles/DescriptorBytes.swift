import Foundation

/// Reads bytes until the buffer is full or the file ends. Returns their number. Nil if the file can't be read; `errno`
/// has the reason.
package func readBytes(from descriptor: CInt, into buffer: UnsafeMutableRawBufferPointer) -> Int? {
    var filled = 0
    while filled < buffer.count {
        let free = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
        let count = read(descriptor, free.baseAddress, free.count)
        if count == 0 { break }
        guard count > 0 || errno == EINTR else { return nil }
        filled += max(0, count)
    }
    return filled
}

/// Writes bytes to a file, a pipe or a terminal. Returns false if not all of them could be written; `errno` has the
/// reason.
package func writeBytes(_ bytes: UnsafeRawBufferPointer, to descriptor: CInt) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
        guard count > 0 || (count < 0 && errno == EINTR) else { return false }
        rest = rest.dropFirst(max(0, count))
    }
    return true
}
