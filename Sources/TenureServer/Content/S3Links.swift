import TenureCore

/// Makes links to a bucket, with secrets that can be replaced while the service runs.
final class S3Links: Sendable {
    private let current: Locked<S3Presigner>
    private let settings: S3Settings

    /// Reads the secrets.
    init(_ settings: S3Settings) throws(ServiceError) {
        self.settings = settings
        current = Locked(try S3Presigner(settings))
    }

    /// Signs links with the secrets that were read last.
    var presigner: S3Presigner { current.withLock { $0 } }

    /// Reloads the secrets. If the new secrets are invalid, the previous secrets stay in use.
    func reload() throws(ServiceError) {
        let fresh = try S3Presigner(settings)
        current.withLock { $0 = fresh }
    }
}
