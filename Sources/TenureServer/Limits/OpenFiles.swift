import Foundation

/// How many files and connections the process may have open.
enum OpenFiles {
    /// Takes as many as the system allows: the usual limit of 1,024 is one of shells.
    static func raiseLimit() {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
        // Beyond a million nothing is gained, and some systems refuse infinity.
        limit.rlim_cur = min(limit.rlim_max, 1_048_576)
        _ = setrlimit(resource, &limit)
    }

    /// What is left for connections when the record, logs and keys have theirs.
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

extension ServiceConfiguration {
    /// How many connections there may be. A download has an open file beside its connection.
    var connectionLimit: Int { min(limits.connections, OpenFiles.available * 2 / 3) }

    /// Half of the connections.
    var downloads: Downloads { Downloads(limit: connectionLimit / 2, perCustomer: downloadsPerCustomer) }
}
