/// A check of a whole JSON text, for bodies that `JSONDecoder` decodes afterwards.
///
/// Two readers may disagree about a text with duplicate names, invalid UTF-8 or another encoding, and PostgreSQL can't
/// store a NUL. So none of these is accepted, at any depth.
package enum StrictJSON {
    /// Returns what is wrong with the text; nil if nothing is.
    package static func error(in bytes: some Collection<UInt8>) -> JSONError? {
        func check(_ buffer: UnsafeBufferPointer<UInt8>) -> JSONError? {
            guard buffer.count < Int32.max else { return JSONError(offset: 0, reason: "it has \(buffer.count) bytes") }
            var parser = JSONParser(buffer: buffer)
            guard case .failure(let error) = parser.parse() else { return nil }
            return error
        }
        return bytes.withContiguousStorageIfAvailable(check) ?? Array(bytes).withUnsafeBufferPointer(check)
    }
}
