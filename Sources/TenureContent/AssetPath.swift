import Foundation

/// The rules for the path of a file in an asset pack. The path is relative, has `/` between its parts, is in Unicode's
/// composed form (NFC), and fits into a header of ustar, the tar format of the packs' archives.
package enum AssetPath {
    /// Returns what is wrong with a path, as words that follow the path in a message: `is empty`. Nil if the path is
    /// valid.
    ///
    /// The same rules apply when a pack is published and when a client installs it. So a manifest can't name a file
    /// outside the pack's folder.
    package static func mistake(in path: String) -> String? {
        guard !path.isEmpty else { return "is empty" }
        if path.unicodeScalars.contains(where: { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }) {
            return "has control characters"
        }
        // `\` and `:` separate folders on Windows and on older Macs.
        if path.contains("\\") || path.contains(":") { return "has a `\\` or a `:`" }
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        if parts.contains(where: \.isEmpty) { return "begins or ends with `/`, or has `//`" }
        if parts.contains(where: { [".", ".."].contains(String($0)) }) { return "has a part `.` or `..`" }
        guard path.utf8.elementsEqual(path.precomposedStringWithCanonicalMapping.utf8) else {
            return "isn't in Unicode's composed form (NFC)"
        }
        guard ustarFields(of: path) != nil else {
            return "is too long: the name may have 100 bytes, and its folders 155 (a limit of ustar archives)"
        }
        return nil
    }

    /// Divides a path for a ustar header, which has two fields for it: `prefix` for the first folders, and `name` for
    /// the rest. Nil if the path is too long.
    package static func ustarFields(of path: String) -> (prefix: String, name: String)? {
        let bytes = Array(path.utf8)
        if bytes.count <= nameSize { return ("", path) }
        guard bytes.count <= prefixSize + 1 + nameSize else { return nil }
        // The slash between both parts is in neither. It is the first one after which the rest fits into `name`, so the
        // prefix is as short as possible.
        let first = bytes.count - nameSize - 1
        let last = min(prefixSize, bytes.count - 1)
        guard let slash = bytes[first...last].firstIndex(of: UInt8(ascii: "/")), slash > 0, slash + 1 < bytes.count
        else { return nil }
        let (prefix, name) = (bytes[..<slash], bytes[(slash + 1)...])
        return (String(decoding: prefix, as: UTF8.self), String(decoding: name, as: UTF8.self))
    }

    /// The sizes of the fields `name` and `prefix` in bytes.
    private static let nameSize = 100
    private static let prefixSize = 155

    /// Returns the path in NFC and in lower case. Two paths have the same result if some file systems treat them as the
    /// same path.
    static func folded(_ path: String) -> String {
        // Convert to upper case first: on file systems that ignore case, `ß` equals `ss`, and `ſ` equals `s`. Lower
        // case alone keeps them different.
        path.precomposedStringWithCanonicalMapping.uppercased().lowercased().precomposedStringWithCanonicalMapping
    }

    /// Returns the first two paths, in the order of `paths`, that can't both exist on every file system: both have the
    /// same `folded` result, or one path is a folder that contains the other path. Nil if all paths can exist.
    package static func conflict(among paths: some Sequence<String>) -> (String, String)? {
        var files: [String: String] = [:]
        var folders: [String: String] = [:]
        for path in paths {
            let key = folded(path)
            if let other = files[key] ?? folders[key] { return (other, path) }
            files[key] = path
            for (index, byte) in zip(key.utf8.indices, key.utf8) where byte == UInt8(ascii: "/") {
                let folder = String(key[..<index])
                if let other = files[folder] { return (other, path) }
                folders[folder] = folders[folder] ?? path
            }
        }
        return nil
    }
}
