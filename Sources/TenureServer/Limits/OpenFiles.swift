import Foundation

/// The operating system's limit of open files for this process. Each connection is an open file.
enum OpenFiles {
    /// Raises the limit to the maximum that the system allows. The usual default of 1,024 is too low.
    static func raiseLimit() {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
        // More than a million has no benefit, and some systems reject infinity.
        limit.rlim_cur = min(limit.rlim_max, 1_048_576)
        _ = setrlimit(resource, &limit)
    }

    /// The number of files that connections and downloads may open. 128 of the allowed files are kept for the database,
    /// logs and keys.
    static var available: Int {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return 256 }
        return max(16, Int(clamping: limit.rlim_cur) - 128)
    }

    #if canImport(Glibc)
        private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let resource = RLIMIT_NOFILE
    #endif
}
