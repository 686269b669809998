public import Foundation
public import TenureCore
package import TenureHTTP
import TenurePolicyFile

extension Tenure {
    /// Where the app's policy comes from.
    public struct PolicySource: Sendable {
        /// Reads the policy from the device, without the network.
        let load: @Sendable (Options) throws(Tenure.Error) -> LoadedPolicy

        /// The policy in a resource of the app, as `tenure policy compile` writes it.
        public static func bundled(_ name: String, in bundle: Bundle = .main) -> PolicySource {
            let folders = Self.folders(of: bundle)
            return PolicySource { _ throws(Tenure.Error) in
                (try Self.compiled(try Self.read(try Self.find(name, in: folders)), named: name), nil)
            }
        }

        /// The policy in a file, as `tenure policy compile` writes it.
        public static func file(_ url: URL) -> PolicySource {
            PolicySource { _ throws(Tenure.Error) in
                (try Self.compiled(try Self.read(url), named: url.lastPathComponent), nil)
            }
        }

        /// A policy that the app creates in code.
        public static func policy(_ policy: Policy) -> PolicySource {
            PolicySource { _ throws(Tenure.Error) in (policy, nil) }
        }
    }

    /// The policy with which the app starts, and the source of newer policies. The feed is nil if the app uses only the
    /// policy with which it starts.
    typealias LoadedPolicy = (policy: Policy, feed: SignedPolicyFeed?)
}

extension Tenure.PolicySource {
    /// The folders in which a bundle may have its resources.
    static func folders(of bundle: Bundle) -> [URL] { [bundle.resourceURL, bundle.bundleURL].compactMap(\.self) }

    /// Returns the URL of the first file with this name in the folders. Throws if no folder has the file.
    static func find(_ name: String, in folders: [URL]) throws(Tenure.Error) -> URL {
        for folder in folders {
            let file = folder.appendingPathComponent(name)
            if FileManager.default.fileExists(atPath: file.path) { return file }
        }
        throw .policy(.missing(name: name))
    }

    /// Returns the contents of a file. Throws if the file is missing, unreadable or empty.
    static func read(_ file: URL) throws(Tenure.Error) -> Data {
        let name = file.lastPathComponent
        guard FileManager.default.fileExists(atPath: file.path) else { throw .policy(.missing(name: name)) }
        guard let data = try? Data(contentsOf: file) else { throw .policy(.unreadable(name: name)) }
        guard data.contains(where: { !" \t\r\n".utf8.contains($0) }) else { throw .policy(.empty(name: name)) }
        return data
    }

    private static func compiled(_ data: Data, named name: String) throws(Tenure.Error) -> Policy {
        do throws(PolicyFileError) {
            return try Policy.compiled(data, named: name)
        } catch {
            throw .policy(.invalid(name: name, reason: "\(error)"))
        }
    }

    // MARK: Policies that a web server can update

    /// A policy that a web server may replace with a newer policy, without a release of the app.
    ///
    /// - Parameters:
    ///   - url: the address at which your web server serves the output of `tenure policy sign`.
    ///   - key: the key that `tenure policy signing-key` prints. Only policies signed with this key are accepted.
    ///   - bundled: a resource of the app, signed or compiled, which is used until the app has fetched a newer policy.
    public static func signed(
        _ url: URL, key: String, bundled name: String, in bundle: Bundle = .main
    ) -> Tenure.PolicySource {
        signed(url, keys: [key], bundled: name, in: bundle)
    }

    /// Creates a source with several keys, for the time in which a new key replaces an old key.
    public static func signed(
        _ url: URL, keys: [String], bundled name: String, in bundle: Bundle = .main
    ) -> Tenure.PolicySource {
        let folders = folders(of: bundle)
        return signed(url, keys: keys) { () throws(Tenure.Error) in try read(try find(name, in: folders)) }
    }

    /// Creates a source that gets the bundled policy from a closure.
    package static func signed(
        _ url: URL, keys: [String], transport: any Transport = URLSessionTransport.shared,
        bundled: @escaping @Sendable () throws(Tenure.Error) -> Data
    ) -> Tenure.PolicySource {
        Tenure.PolicySource { options throws(Tenure.Error) in
            if let invalid = keys.first(where: { PinnedKey($0) == nil }) {
                throw .policy(.source("`\(invalid.shortened)` isn't a policy signing key"))
            }
            let data = try bundled()
            do throws(SignedPolicyError) {
                let feed = try SignedPolicyFeed(
                    url: url, keys: keys.compactMap { PinnedKey($0) }, bundled: data,
                    cache: PolicyCache(url: cache(options)), timeout: options.serviceTimeout, transport: transport)
                return (feed.bundledPolicy, feed)
            } catch {
                throw .policy(.source("\(error)"))
            }
        }
    }

    /// Returns the URL of the file in which the fetched policy is stored. The policy is verified each time it is read,
    /// so it needn't be in the keychain.
    private static func cache(_ options: Tenure.Options) -> URL {
        let name = AppName.ofThisApp
        var folder = options.folder ?? FileStateStorage.standard(name: name).folder
        #if canImport(Darwin)
            let support = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
            if options.folder == nil, let support {
                folder = support.appendingPathComponent("tenure/\(name)", isDirectory: true)
            }
        #endif
        return folder.appendingPathComponent("policy.json")
    }
}

extension Policy {
    /// Reads the output of `tenure policy compile`: JSON of at most 1 MiB, bundled with the app or sent by a server.
    ///
    /// Reads the file as strictly as `tenure policy check` does. Unknown keys, duplicate keys and a reference to a
    /// release list in another file are errors, each with its line and column.
    static func compiled(_ data: Data, named fileName: String = "policy.json") throws(PolicyFileError) -> Policy {
        // The name's extension selects the format. Always read JSON, because an app contains no YAML.
        try PolicyFile.read(data, named: fileName.hasSuffix(".json") ? fileName : fileName + ".json")
    }
}
