import Foundation

/// Stores records (`SpillRecord`: what a line of an evidence file proves about a customer) until all lines are read.
/// Few records stay in memory. More are written to a temporary folder.
///
/// The records are divided into buckets by the hash of their `CustomerName`, an ID of the customer. So all records of
/// one name are in one bucket, wherever their lines are in the file, and one bucket fits into memory.
final class SpillFolder {
    /// The number of buckets in each stage. With 10 million customers, each bucket has 20,000 customers.
    static let bucketCount = 512
    /// The size in bytes at which a bucket's buffer is appended to its file.
    private static let bufferSize = 16 * 1024

    private let path: String
    /// Whether the temporary folder exists. The folder is created with the first file.
    private var isMade = false
    /// The last records of each bucket, which aren't in its file yet.
    private var buffers: [Int: [UInt8]] = [:]
    /// The buckets that have a file.
    private var files: Set<Int> = []

    init(in folder: String = NSTemporaryDirectory()) {
        path = URL(fileURLWithPath: folder).appendingPathComponent("tenure-rehearsal-\(UUID().uuidString)").path
    }

    deinit { if isMade { try? FileManager.default.removeItem(atPath: path) } }

    /// Returns the number of the bucket for the records of a name.
    static func bucket(of name: CustomerName, at stage: GatheringStage) -> Int {
        stage.rawValue * bucketCount + Int(name.stableHash % UInt64(bucketCount))
    }

    /// Returns the buckets of one stage.
    static func buckets(of stage: GatheringStage) -> Range<Int> {
        let first = stage.rawValue * bucketCount
        return first..<first + bucketCount
    }

    /// Returns all records of a bucket without removing them; nil if the bucket is empty.
    func peek(_ bucket: Int) -> BucketContents? {
        let tail = buffers[bucket] ?? []
        let file = files.contains(bucket) ? file(of: bucket) : nil
        return tail.isEmpty && file == nil ? nil : BucketContents(file: file, tail: tail, isTaken: false)
    }

    /// Adds an encoded record to a bucket.
    func append(_ record: ArraySlice<UInt8>, to bucket: Int) throws(RehearsalError) {
        buffers[bucket, default: []].append(contentsOf: record)
        if let buffer = buffers[bucket], buffer.count >= Self.bufferSize {
            try write(buffer, to: bucket)
            buffers[bucket]?.removeAll(keepingCapacity: true)
        }
    }

    /// Returns all records of a bucket and empties it; nil if the bucket is empty.
    func removeRecords(of bucket: Int) -> BucketContents? {
        let tail = buffers.removeValue(forKey: bucket) ?? []
        let file = files.remove(bucket).map(file)
        return tail.isEmpty && file == nil ? nil : BucketContents(file: file, tail: tail, isTaken: true)
    }

    /// Returns the path of a bucket's file.
    private func file(of bucket: Int) -> String { path + "/\(bucket)" }

    /// Appends bytes to a bucket's file.
    private func write(_ bytes: [UInt8], to bucket: Int) throws(RehearsalError) {
        if !isMade {
            // Only the owner may read the file, because it has customers' purchases.
            guard mkdir(path, 0o700) == 0 else { throw .unwritableTemporaryFolder(path) }
            isMade = true
        }
        files.insert(bucket)
        let descriptor = open(file(of: bucket), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .unwritableTemporaryFolder(path) }
        defer { close(descriptor) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw .unwritableTemporaryFolder(path) }
            rest = rest.dropFirst(written)
        }
    }
}

/// The records of one bucket.
struct BucketContents: Sendable {
    /// The path of the file with the earlier records; nil if all records are in `tail`.
    let file: String?
    /// The records that came after the records in the file.
    let tail: [UInt8]
    /// Whether the records were removed from the folder, so that the file can be deleted after it was read.
    let isTaken: Bool

    /// The number of bytes of the file to read at once.
    private static let chunkSize = 256 * 1024

    /// Passes each record to `body`, then deletes the file if the bucket was taken.
    func forEach(_ body: (SpillRecord) -> Void) throws(RehearsalError) {
        var bytes: [UInt8] = []
        if let file {
            guard let handle = FileHandle(forReadingAtPath: file) else { throw .unreadableTemporaryFile(file) }
            defer {
                try? handle.close()
                if isTaken { try? FileManager.default.removeItem(atPath: file) }
            }
            while let chunk = try Self.chunk(of: handle, at: file) {
                bytes.append(contentsOf: chunk)
                Self.passRecords(&bytes, body)
            }
        }
        bytes += tail
        Self.passRecords(&bytes, body)
    }

    /// Returns the next bytes; nil at the end of the file.
    private static func chunk(of handle: FileHandle, at path: String) throws(RehearsalError) -> Data? {
        do {
            guard let chunk = try handle.read(upToCount: chunkSize), !chunk.isEmpty else { return nil }
            return chunk
        } catch {
            throw .unreadableTemporaryFile(path)
        }
    }

    /// Passes the complete records to `body`, and keeps the rest. Each record begins with its length in 4 bytes.
    private static func passRecords(_ bytes: inout [UInt8], _ body: (SpillRecord) -> Void) {
        var position = 0
        while let length = SpillRecord.length(of: bytes, at: position), position + 4 + length <= bytes.count {
            if let record = SpillRecord(bytes, at: &position) { body(record) }
        }
        bytes.removeFirst(position)
    }
}
