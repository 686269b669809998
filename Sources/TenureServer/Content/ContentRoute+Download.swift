import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOPosix
import TenureAPI
import TenureContent
import TenureCore
import TenureFileAttributes
import TenureStore

extension ContentRoute {
    /// `GET` and `HEAD /v1/content/{digest}`: sends a published file, an asset pack's list of files (manifest) or its
    /// archive, to a client with a link from `GET /v1/content`.
    ///
    /// Each request checks whether the customer may still use the pack, so a refund takes effect with the next request.
    @Sendable func download(_ request: Request, context: ServiceContext) async throws -> Response {
        guard let delivery, let digest = ContentDigest(context.parameters.get("digest") ?? "") else {
            throw Problem(.notFound, "there is nothing at this path; check the path")
        }
        let (link, customer) = try await linkAndCustomer(of: request, digest, by: delivery)
        guard let file = try await ContentFile.open(digest, in: delivery.folder.path) else {
            throw Problem(.notFound, "this file isn't published anymore; get a new link from `GET /v1/content`")
        }
        let representation = ContentRepresentation(file: link.file, digest: digest, size: file.size)
        let answer = representation.answer(to: request)
        // The response to HEAD has no body, so it isn't counted as a download.
        guard let range = answer.bytes, request.method == .get else { return answer.response }
        let slot = try delivery.downloads.begin(
            for: .init(databaseID: contentAccess.store.databaseID, number: customer.id), metrics)
        var response = answer.response
        let download = Download(file: file, range: range, slot: slot, metrics: metrics)
        response.body = download.body(through: context.channel)
        return response
    }

    /// Returns the link in the request and its customer, after checking that the customer may use the link now.
    private func linkAndCustomer(
        of request: Request, _ digest: ContentDigest, by delivery: ContentDelivery
    ) async throws -> (ContentLink, Customer) {
        let invalid = Problem(.invalidLink, "the link is invalid or expired; get a new one from `GET /v1/content`")
        let now = now()
        let tokens = request.uri.queryParameters.getAll("token")
        guard let token = tokens.first, tokens.count == 1, let link = delivery.linkKey.link(in: token.utf8),
            link.digest == digest, now < link.expiresAt, access.acceptedRealms.contains(link.realm),
            let customer = try await contentAccess.store.lookUp(link.customer), customer.realm == link.realm
        else { throw invalid }
        let persona: Persona?
        do {
            persona = try await personas.persona(link.persona, in: link.realm, at: now)
        } catch let problem as Problem where problem.code == .notAuthenticated {
            throw invalid
        }
        // The newest catalog decides what unlocks a pack. If that catalog has dropped the pack, the link decides, so
        // that customers can complete a download.
        let unlock = delivery.folder.catalog?.catalog[link.pack]?.unlock ?? link.unlock
        guard try await contentAccess.allowedUnlocks([unlock], for: customer, as: persona, at: now).contains(unlock)
        else { throw Problem(.notEntitled, "the customer isn't entitled to this pack anymore; sync to see why") }
        return (link, customer)
    }
}

/// The HTTP responses for a published file, with conditions and ranges as in RFC 9110.
struct ContentRepresentation {
    let file: ContentLink.File
    let digest: ContentDigest
    let size: Int64

    private var tag: EntityTag { EntityTag("\"\(digest)\"") }

    /// Returns the response to a request, and the bytes of the file that the caller adds to it; nil for a response
    /// without bytes of the file. If there are bytes, `Content-Length` is set.
    ///
    /// Evaluates the conditions in the order of RFC 9110, section 13.2.2. Files have no modification date, so conditions
    /// on dates are ignored.
    func answer(to request: Request) -> (response: Response, bytes: Range<Int64>?) {
        if let list = request.headers[.ifMatch], !tag.stronglyMatches(list) {
            let problem = Problem(
                .preconditionFailed, "the file at this path has the entity tag \(tag.text); download it from its start")
            return (withFields(.problem(problem)), nil)
        }
        if tag.weaklyMatches(request.headers[.ifNoneMatch]) {
            return (withFields(Response(status: .notModified)), nil)
        }
        switch range(of: request) {
        case .all: return (response(.ok, length: size), 0..<size)
        case .part(let range):
            var response = response(.partialContent, length: Int64(range.count))
            response.headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)"
            return (response, range)
        case .unsatisfiable:
            let problem = Problem(
                .rangeNotSatisfiable, "the file has \(size) bytes, and none in this range; ask for an earlier range")
            var response = withFields(.problem(problem))
            response.headers[.contentRange] = "bytes */\(size)"
            return (response, nil)
        }
    }

    /// The bytes that the request asks for. `If-Range` with another tag means that the client has a part of another
    /// file, so the client gets the whole file.
    private func range(of request: Request) -> ByteRange {
        // Ranges are for GET only.
        guard request.method == .get else { return .all }
        if let condition = request.headers[.ifRange], condition != tag.text { return .all }
        return ByteRange(request.headers[.range], size: size)
    }

    private func response(_ status: HTTPResponse.Status, length: Int64) -> Response {
        var response = withFields(Response(status: status))
        response.headers[.contentType] = file == .manifest ? "application/json" : "application/x-tar"
        response.headers[.contentLength] = String(length)
        if let field = Self.representationDigest {
            response.headers[field] = "sha-256=:\(Data(digest.bytes).base64EncodedString()):"
        }
        return response
    }

    /// Adds the header fields that every response about a file has.
    private func withFields(_ response: Response) -> Response {
        var response = response
        response.headers[.eTag] = tag.text
        response.headers[.acceptRanges] = "bytes"
        // A shared cache would send the file to the customer even after a refund.
        response.headers[.cacheControl] = "private"
        return response
    }

    /// The digest of the whole file, even in a response with a part of it (RFC 9530).
    private static let representationDigest = HTTPField.Name("Repr-Digest")
}

/// Sends a part of a file, no faster than the client reads it.
///
/// A response writer accepts chunks before the connection has sent the first chunk. So the download waits after each
/// chunk until the connection has room again. A slow client then takes the memory of only one chunk.
struct Download: Sendable {
    let file: ContentFile
    let range: Range<Int64>
    /// Counts the download as in progress, until the body of the response is released.
    let slot: Downloads.Slot
    let metrics: ServiceMetrics

    /// The size of a chunk in bytes. With larger chunks, downloads aren't faster; with smaller chunks, they are slower.
    private static let chunkSize = 256 * 1024

    /// The body of the response, which reads the file while it is sent.
    func body(through channel: any Channel) -> ResponseBody {
        ResponseBody(contentLength: range.count) { [self] writer in
            var offset = range.lowerBound
            while offset < range.upperBound {
                let count = Int(min(Int64(Self.chunkSize), range.upperBound - offset))
                try await writer.write(try await file.read(count, at: offset))
                offset += Int64(count)
                metrics.sentDownload(bytes: count)
                // When this call returns, the event loop has handled the chunk.
                try await channel.eventLoop.submit {}.get()
                // Writing nothing suspends this task while the connection has no room.
                if !channel.isWritable { try await writer.write(ByteBuffer()) }
            }
            try await writer.finish(nil)
        }
    }
}

/// An open file of a published folder. The file is closed when the last reference to this object is released.
///
/// A few separate threads read for all downloads, so that a slow disk delays nothing else.
final class ContentFile: Sendable {
    private let descriptor: CInt
    /// The size in bytes.
    let size: Int64

    /// The number of threads that read files.
    static let maximumThreads = 4
    private static let threads: NIOThreadPool = {
        let threads = NIOThreadPool(numberOfThreads: maximumThreads)
        threads.start()
        return threads
    }()

    private init(descriptor: CInt, size: Int64) {
        self.descriptor = descriptor
        self.size = size
    }

    deinit { close(descriptor) }

    /// Opens the file with this digest; nil if it doesn't exist or isn't a regular file.
    static func open(_ digest: ContentDigest, in folder: String) async throws -> ContentFile? {
        // A digest has only hexadecimal digits, so the path can't leave the folder.
        let path = "\(folder)/\(digest)"
        return try await threads.runIfActive {
            // Without `O_NONBLOCK`, opening a pipe would wait for a writer.
            let descriptor = systemOpen(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
            guard descriptor >= 0 else {
                if [ENOENT, ELOOP, ENOTDIR].contains(errno) { return nil }
                throw ReadFailed(code: errno)
            }
            guard let state = FileState(descriptor: descriptor), state.kind == .file else {
                close(descriptor)
                return nil
            }
            return ContentFile(descriptor: descriptor, size: state.size)
        }
    }

    /// Reads exactly `count` bytes. Throws `ReadFailed` if the file has become too short.
    func read(_ count: Int, at offset: Int64) async throws -> ByteBuffer {
        try await Self.threads.runIfActive { [self] in
            var buffer = ByteBufferAllocator().buffer(capacity: count)
            try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { bytes in
                var filled = 0
                while filled < count {
                    let read = pread(
                        descriptor, bytes.baseAddress?.advanced(by: filled), count - filled,
                        off_t(offset) + off_t(filled))
                    if read < 0, errno == EINTR { continue }
                    // The file is shorter than when it was opened.
                    guard read > 0 else { throw ReadFailed(code: read < 0 ? errno : EIO) }
                    filled += read
                }
                return filled
            }
            return buffer
        }
    }

    /// A failure to open or read a file.
    struct ReadFailed: Error {
        /// The system's `errno`.
        let code: Int32
    }
}

// The method of `ContentFile` hides the system's function of the same name.
private func systemOpen(_ path: String, _ flags: CInt) -> CInt { open(path, flags) }

/// Counts and limits the downloads in progress. Downloads may use only a share of the connections, so that many
/// downloads don't block syncs, notifications and health checks.
final class Downloads: Sendable {
    private let state = Locked(State())
    private let limit: Int
    private let limitPerCustomer: Int

    private struct State {
        var counts: [Customer: Int] = [:]
        var total = 0
    }

    /// A customer of one app.
    struct Customer: Hashable {
        /// The ID of the app's database.
        let databaseID: [UInt8]
        /// The row ID of the customer in that database.
        let number: Int64
    }

    /// One download in progress. The download is counted until the last reference to this object is released.
    final class Slot: Sendable {
        private let onEnd: @Sendable () -> Void

        fileprivate init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

        deinit { onEnd() }
    }

    init(limit: Int, perCustomer: Int = ServiceConfiguration.defaultDownloadsPerCustomer) {
        self.limit = max(1, limit)
        limitPerCustomer = perCustomer
    }

    /// Begins a download if the limits allow it, and returns its slot, which counts the download until it is released.
    /// Otherwise throws the response to the client.
    ///
    /// - Parameter metrics: The metrics of the customer's app, which count the download or its rejection.
    func begin(for customer: Customer, _ metrics: ServiceMetrics) throws(Problem) -> Slot {
        let rejection = state.withLock { state -> DownloadRejection? in
            let count = state.counts[customer, default: 0]
            guard count < limitPerCustomer else { return .customer }
            guard state.total < limit else { return .total }
            state.counts[customer] = count + 1
            state.total += 1
            return nil
        }
        if let rejection {
            metrics.rejectedDownload(rejection)
            throw rejection.problem
        }
        metrics.beganDownload()
        return Slot { [self] in
            end(for: customer)
            metrics.endedDownload()
        }
    }

    private func end(for customer: Customer) {
        state.withLock { state in
            state.total -= 1
            let count = state.counts[customer, default: 1] - 1
            state.counts[customer] = count > 0 ? count : nil
        }
    }
}

extension DownloadRejection {
    /// The response to the client.
    var problem: Problem {
        switch self {
        case .customer:
            Problem(
                .tooManyRequests,
                "this customer has the maximum number of downloads in progress; wait until a download ends",
                retryAfter: 5)
        case .total: Problem(.busy, "too many downloads are in progress; try again", retryAfter: 10)
        }
    }
}

extension ServiceConfiguration {
    /// Creates the counter of downloads, which may use half of the connections.
    var downloads: Downloads { Downloads(limit: connectionLimit / 2, perCustomer: downloadsPerCustomer) }
}
