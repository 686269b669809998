public import Foundation
import TenurePolicyFile

extension Tenure.PolicySource {
    /// A policy that also lies on a web server, as `tenure policy sign` writes it: what is newer there holds, without a
    /// release of the app.
    ///
    /// - Parameters:
    ///   - key: what `tenure policy key` prints: only what that key signed is taken.
    ///   - bundled: a file of the app, signed or compiled, which holds until something newer was fetched.
    public static func signed(
        _ url: URL, key: String, bundled name: String, in bundle: Bundle = .main
    ) -> Tenure.PolicySource {
        signed(url, keys: [key], bundled: name, in: bundle)
    }

    /// The same with several keys: while one takes over from the other.
    public static func signed(
        _ url: URL, keys: [String], bundled name: String, in bundle: Bundle = .main
    ) -> Tenure.PolicySource {
        let folders = folders(of: bundle)
        return signed(url, keys: keys) { () throws(TenureError) in
            let file = try find(name, in: folders)
            guard let data = try? Data(contentsOf: file) else { throw .policy("`\(name)` cannot be opened") }
            return data
        }
    }

    package static func signed(
        _ url: URL, keys: [String], fetcher: (any PolicyFetcher)? = nil,
        bundled: @escaping @Sendable () throws(TenureError) -> Data
    ) -> Tenure.PolicySource {
        var source = Tenure.PolicySource { () throws(TenureError) in throw .policy("it comes from a feed") }
        source.feed = { options throws(TenureError) in
            var pinned: [PinnedKey] = []
            for key in keys {
                guard let key = PinnedKey(key) else {
                    throw .policy("`\(key.shortened)` is no key that `tenure policy key` prints")
                }
                pinned.append(key)
            }
            let data = try bundled()
            do throws(SignedPolicyError) {
                return try SignedPolicyFeed(
                    url: url, keys: pinned, bundled: data, shelf: PolicyFileShelf(url: shelf(options)),
                    fetcher: fetcher ?? HTTPPolicyFetcher(timeout: options.serviceDeadline))
            } catch {
                throw .policy("\(error)")
            }
        }
        return source
    }

    /// Beside the local state. It is verified each time it is read, so that it needs no keychain.
    private static func shelf(_ options: Tenure.Options) -> URL {
        let name = AppName.ofThisApp
        var folder = options.folder ?? FileVault.standard(name: name).folder
        #if canImport(Darwin)
            let support = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
            if options.folder == nil, let support {
                folder = support.appendingPathComponent("tenure/\(name)", isDirectory: true)
            }
        #endif
        return folder.appendingPathComponent("policy.json")
    }
}
