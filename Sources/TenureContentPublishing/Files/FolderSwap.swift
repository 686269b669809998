import Foundation

/// Exchanges the names of two folders in one step. If the process is killed, both folders are still complete.
enum FolderSwap {
    /// Exchanges two folders.
    ///
    /// - Returns: true if the folders were exchanged, and false if the system or the file system can't do this in one
    ///   step.
    static func exchange(_ first: String, _ second: String) throws(PublishingError) -> Bool {
        guard let result = systemExchange(first, second) else { return false }
        if result == 0 { return true }
        guard [EINVAL, ENOSYS, ENOTSUP].contains(errno) else { throw .writing(second) }
        return false
    }

    #if canImport(Darwin)
        /// Calls macOS's `renamex_np`, and returns its result: 0 if the folders were exchanged.
        private static func systemExchange(_ first: String, _ second: String) -> CInt? {
            renamex_np(first, second, UInt32(RENAME_SWAP))
        }
    #else
        /// The type of the C function `renameat2`.
        private typealias Rename =
            @convention(c) (CInt, UnsafePointer<CChar>, CInt, UnsafePointer<CChar>, CUnsignedInt)
            -> CInt

        /// Calls Linux's `renameat2`, and returns its result: 0 if the folders were exchanged. Nil if the C library
        /// doesn't have this function. It is looked up at run time, because Swift's C library module doesn't declare
        /// it.
        private static func systemExchange(_ first: String, _ second: String) -> CInt? {
            guard let symbol = dlsym(nil, "renameat2") else { return nil }
            let exchange: CUnsignedInt = 1 << 1
            return unsafeBitCast(symbol, to: Rename.self)(AT_FDCWD, first, AT_FDCWD, second, exchange)
        }
    #endif
}
