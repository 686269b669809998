/// Checks a whole JSON text before `JSONDecoder` decodes it.
///
/// Parsers may read texts with duplicate names, invalid UTF-8 or another encoding differently, and PostgreSQL can't
/// store NUL. So such texts are rejected.
package enum StrictJSON {
    /// Returns what is wrong with the text; nil if it is valid.
    package static func error(in bytes: some Collection<UInt8>) -> JSONError? {
        func check(_ buffer: UnsafeBufferPointer<UInt8>) -> JSONError? {
            guard buffer.count < Int32.max else { return JSONError.tooLarge(buffer.count) }
            var parser = JSONParser(buffer: buffer)
            guard case .failure(let error) = parser.parse() else { return nil }
            return error
        }
        return bytes.withContiguousStorageIfAvailable(check) ?? Array(bytes).withUnsafeBufferPointer(check)
    }
}
