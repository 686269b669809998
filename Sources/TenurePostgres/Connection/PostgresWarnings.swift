import CLibPQ

/// Keeps the last warning that a server sent on a connection. Otherwise, libpq (PostgreSQL's C library) would print
/// warnings to standard error.
///
/// Use an object only on the dispatch queue of its connection (`PostgresWorker`).
final class PostgresWarnings {
    /// The message of the last warning; nil if no warning has arrived since the last `clear`.
    private(set) var last: String?

    /// Receives the warnings of this connection. This object must live longer than the connection.
    func listen(to handle: OpaquePointer) {
        PQsetNoticeReceiver(
            handle,
            { receiver, result in
                guard let receiver, let result, let severity = PQresultErrorField(result, PostgresWarnings.severity),
                    String(cString: severity) == "WARNING"
                else { return }
                let text = PQresultErrorField(result, PostgresAnswer.primaryMessage).map { String(cString: $0) }
                Unmanaged<PostgresWarnings>.fromOpaque(receiver).takeUnretainedValue().last = text ?? "a warning"
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    func clear() { last = nil }

    /// PG_DIAG_SEVERITY_NONLOCALIZED, a macro that Swift doesn't import.
    private static let severity = Int32(UInt8(ascii: "V"))
}
