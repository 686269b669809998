import Foundation

/// The file of the signing keys in the service's folder of keys, which several processes may share.
struct SigningKeyStore: Sendable {
    let folder: String

    static let fileName = "signing-key.json"

    var path: String { "\(folder)/\(Self.fileName)" }
    private var file: SecretFile { SecretFile(path: path) }

    var exists: Bool { file.exists }

    /// Reads and checks the keys. Throws if the file is missing or damaged.
    func read() throws(ServiceError) -> SigningKeySet { try keys(in: try file.existingContents()) }

    /// Reads and checks the keys. Returns nil if the file still has the contents `lastBytes`.
    func read(unless lastBytes: [UInt8]) throws(ServiceError) -> (keys: SigningKeySet, bytes: [UInt8])? {
        let bytes = try file.existingContents()
        return bytes == lastBytes ? nil : (try keys(in: bytes), bytes)
    }

    /// Reads the keys, or creates the file with the first key.
    func readOrCreate(at now: Date) throws(ServiceError) -> (keys: SigningKeySet, bytes: [UInt8]) {
        let bytes = try file.contents { () throws(ServiceError) in
            try Result { try SigningKeyFile(at: now).bytes }.mapError { ServiceError(wrapping: $0) }.get()
        }
        return (try keys(in: bytes), bytes)
    }

    /// Changes the keys and replaces the file. Meanwhile, other processes that change the file wait. If `change` throws
    /// or the process is killed, the file stays unchanged.
    func update<Result>(_ change: (inout SigningKeyFile) throws -> Result) throws -> Result {
        let lock = open(folder, O_RDONLY | O_CLOEXEC)
        if lock < 0, errno == ENOENT {
            throw ServiceError.keyFile(path: path, detail: "the folder of the file doesn't exist; check the path")
        }
        guard lock >= 0, flock(lock, LOCK_EX) == 0 else {
            throw ServiceError.keyFile(
                path: path, detail: "the folder of the file can't be locked; check the folder's owner")
        }
        // Closing the folder also unlocks it.
        defer { close(lock) }
        var contents = try read().file
        file.removeLeftovers()
        let result = try change(&contents)
        let bytes = try contents.bytes
        // Checks the new contents before they replace the file.
        _ = try keys(in: bytes)
        try file.replace(with: bytes)
        return result
    }

    /// Stores the lifetime of entitlement tokens in the file, so that `tenure signing-key rotate` keeps replaced keys
    /// until their tokens have expired.
    func remember(tokenLife: TimeInterval) throws(ServiceError) {
        do {
            try update { $0.tokenLife = Int64(tokenLife.rounded(.up)) }
        } catch let error as ServiceError {
            throw error
        } catch {
            throw .keyFile(path: path, detail: "the file can't be written; check its owner and mode")
        }
    }

    /// Reads and checks the keys in the file's bytes.
    private func keys(in bytes: [UInt8]) throws(ServiceError) -> SigningKeySet {
        guard let contents = try? SigningKeyFile(bytes) else {
            throw .keyFile(path: path, detail: "the contents are damaged; restore the file from your backup")
        }
        do throws(SigningKeySet.Mistake) {
            return try SigningKeySet(contents)
        } catch {
            throw .keyFile(path: path, detail: "\(error); restore the file from your backup")
        }
    }
}
