import GRDB

extension StoreError {
    init(_ error: any Error, path: String? = nil) {
        switch error {
        case let error as StoreError: self = error
        case let error as DatabaseError: self.init(error, path: path)
        default: self = .failed("\(error)")
        }
    }

    private init(_ error: DatabaseError, path: String?) {
        let detail = error.message ?? error.resultCode.description
        switch error.resultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED: self = .busy
        case .SQLITE_FULL: self = .full
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: self = .damaged(detail)
        case .SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_PERM:
            self = path.map { .unavailable(path: $0, detail: detail) } ?? .failed(detail)
        default: self = .failed(detail)
        }
    }
}
