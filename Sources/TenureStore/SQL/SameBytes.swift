import Foundation

// Compares bytes with `memcmp`, which is faster than comparing collections byte by byte.

extension [UInt8] {
    func hasSameBytes(as other: ArraySlice<UInt8>) -> Bool {
        withUnsafeBytes { ours in other.withUnsafeBytes { ours.hasSameBytes(as: $0) } }
    }
}

extension UnsafeRawBufferPointer {
    func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        guard let ours = baseAddress, let theirs = other.baseAddress else { return true }
        return memcmp(ours, theirs, count) == 0
    }
}
