/// Checks a whole JSON text before `JSONDecoder` decodes it.
///
/// It rejects duplicate names, invalid UTF-8 and other encodings, because other parsers may read them differently. It
/// rejects NUL, because PostgreSQL can't store it.
package enum StrictJSON {
    /// Returns what is wrong with the text; nil if it is valid.
    ///
    /// - Parameter maximumNames: the maximum number of names in all objects together.
    package static func error(in bytes: some Collection<UInt8>, maximumNames: Int = .max) -> JSONError? {
        func check(_ buffer: UnsafeBufferPointer<UInt8>) -> JSONError? {
            guard buffer.count < Int32.max else { return JSONError.tooLarge(buffer.count) }
            var parser = JSONParser(buffer: buffer, maximumNames: maximumNames)
            do throws(JSONError) {
                _ = try parser.parse()
                return nil
            } catch {
                return error
            }
        }
        return bytes.withContiguousStorageIfAvailable(check) ?? Array(bytes).withUnsafeBufferPointer(check)
    }
}
