package import Foundation

/// Where the local state lies. The keychain outlives a reinstallation of the app; a file does not.
package protocol Vault: Sendable {
    /// Nil where nothing was ever written. Throws where something may lie there and cannot be read now, such as the
    /// keychain before the first unlock: then it must not be replaced.
    func read() throws -> Data?
    /// All of it or nothing.
    func write(_ contents: Data) throws
    /// Random bytes that stay on this device, made on first need: they seal the state. Empty where the place itself
    /// keeps others out.
    func secret() throws -> Data
}
