import Foundation

/// Calls `body` with a folder in which files can be created and renamed. The folder can't be opened, so it can't be
/// flushed.
///
/// Root may open every folder. So on Linux, the thread acts as another user meanwhile. Elsewhere, nothing is called for
/// root.
package func withUnreadableFolder(_ body: (_ folder: String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tenure-" + UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try FileManager.default.setAttributes([.posixPermissions: 0o333], ofItemAtPath: folder)
    defer { try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder) }
    guard geteuid() == 0 else { return try body(folder) }
    #if os(Linux)
        guard let function = dlsym(nil, "setfsuid") else { return }
        let setUser = unsafeBitCast(function, to: (@convention(c) (UInt32) -> CInt).self)
        _ = setUser(65_534)
        defer { _ = setUser(0) }
        try body(folder)
    #endif
}
