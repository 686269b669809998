public import Foundation
package import TenureHTTP
import TenurePolicyFile

/// Policies that a web server can update.
extension Tenure.PolicySource {
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
            var pinned: [PinnedKey] = []
            for key in keys {
                guard let key = PinnedKey(key) else {
                    throw .policy(.source("`\(key.shortened)` isn't a policy signing key"))
                }
                pinned.append(key)
            }
            let data = try bundled()
            do throws(SignedPolicyError) {
                let feed = try SignedPolicyFeed(
                    url: url, keys: pinned, bundled: data, cache: PolicyCache(url: cache(options)),
                    timeout: options.serviceTimeout, transport: transport)
                return Tenure.LoadedPolicy(policy: feed.bundledPolicy, feed: feed)
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
