import Hummingbird
import NIOCore

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
