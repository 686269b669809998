/// A check of a whole JSON text, for bodies that another reader decodes afterwards.
///
/// Two readers may disagree about a text with duplicate names, invalid UTF-8 or another encoding. PostgreSQL stores no
/// text with a NUL. So none of these is accepted, at any depth.
package enum StrictJSON {
    /// Returns what is wrong with the text; nil where nothing is.
    package static func mistake(in bytes: some Collection<UInt8>) -> String? {
        func check(_ buffer: UnsafeBufferPointer<UInt8>) -> String? {
            guard buffer.count < Int32.max else { return "it has \(buffer.count) bytes" }
            var parser = JSONParser(buffer: buffer)
            guard case .failure(let mistake) = parser.parse() else { return nil }
            return "\(mistake.reason), at byte \(mistake.position)"
        }
        return bytes.withContiguousStorageIfAvailable(check) ?? Array(bytes).withUnsafeBufferPointer(check)
    }
}
