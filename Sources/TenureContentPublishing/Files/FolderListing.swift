import Foundation

/// Lists the names of files and folders in a folder, byte for byte as they are on the disk.
enum FolderListing {
    /// Returns the names in the folder at `path`, sorted by their bytes. A name that isn't UTF-8 is nil.
    static func names(in path: String) throws(PublishingError) -> [String?] {
        guard let stream = opendir(path) else { throw .reading(path) }
        defer { closedir(stream) }
        var names: [[UInt8]] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw .reading(path) }
                break
            }
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 1) { start in
                    [UInt8](UnsafeRawBufferPointer(start: start, count: strlen(start)))
                }
            }
            if name != Array(".".utf8), name != Array("..".utf8) { names.append(name) }
        }
        return names.sorted { $0.lexicographicallyPrecedes($1) }.map { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            return text.utf8.elementsEqual(bytes) ? text : nil
        }
    }

    /// Whether macOS creates files of this name in folders that a person opens or copies. Such files aren't content.
    static func isMadeByMacOS(_ name: String) -> Bool { name == ".DS_Store" || name.hasPrefix("._") }
}
