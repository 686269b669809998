/// A cache of row IDs in the table `headers`, which stores the headers of signed artifacts. A header is the first part
/// of a JWS, with the signer's certificates. Nearly all artifacts have the same header.
///
/// In SQLite, the connection that writes keeps a cache, and empties it when it rolls back a transaction. In PostgreSQL,
/// each list of artifacts gets a new cache. One caller at a time may use a cache.
package final class HeaderRowIDs {
    /// At most `maximumCount` headers with their row IDs. The header that was used last comes first.
    private var knownHeaders: [(bytes: [UInt8], rowID: Int64)] = []

    /// The maximum number of headers: enough for each signing certificate that the App Store uses, and for those of the
    /// local App Store.
    private static let maximumCount = 8

    /// The row ID of a header; nil if the header isn't in the cache.
    func rowID(of header: ArraySlice<UInt8>) -> Int64? {
        guard let index = knownHeaders.firstIndex(where: { $0.bytes.hasSameBytes(as: header) }) else { return nil }
        if index > 0 { knownHeaders.swapAt(0, index) }
        return knownHeaders[0].rowID
    }

    /// Adds a header to the cache. If the cache is full, removes the header at the end of the list.
    func remember(_ header: ArraySlice<UInt8>, rowID: Int64) {
        if knownHeaders.count >= Self.maximumCount { knownHeaders.removeLast() }
        knownHeaders.insert(([UInt8](header), rowID), at: 0)
    }

    /// Empties the cache.
    func forget() { knownHeaders.removeAll() }
}
