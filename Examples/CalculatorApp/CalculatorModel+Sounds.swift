public import Foundation
public import Tenure

/// The service that delivers the app's asset packs.
public struct CalculatorService: Sendable {
    let url: URL
    let key: Tenure.ServiceKey
    let contentKey: String

    /// - Parameters:
    ///   - key: the service's signing key.
    ///   - contentKey: the key that signs the content catalog, as `tenure policy signing-key` prints it.
    public init(url: URL, key: Tenure.ServiceKey, contentKey: String) {
        self.url = url
        self.key = key
        self.contentKey = contentKey
    }
}

/// What the screen shows about the sounds, which come with the scientific keys.
public enum Sounds: Sendable, Hashable {
    case locked
    /// The button says how large the download is. Nothing is downloaded before a tap.
    case available(megabytes: Double)
    case downloading(fraction: Double)
    /// Waiting, with a sentence that says for what.
    case waiting(String)
    case installed
}

/// An asset pack: `sounds: { entitlement: everything, files: sounds/ }` in `content.yaml`.
extension CalculatorModel {
    private var pack: Tenure.AssetPack { tenure.content["sounds"] }

    /// Shows each state of the download. Call it from the view's `task`.
    public func followSounds() async {
        for await state in pack.states { show(state) }
    }

    /// The action of the button "Download Sounds". Returns when the sounds are installed.
    public func downloadSoundsTapped() async {
        do {
            try await pack.download()
            show(pack.state)
        } catch {
            notice = error.localizedDescription
        }
    }

    /// Returns the file with the sound of a digit; nil for other keys, and if the sounds aren't installed.
    public func sound(of key: Key) async -> URL? {
        guard case .digit(let digit) = key else { return nil }
        return try? await pack.url(for: "digits/\(digit).wav")
    }

    private func show(_ state: Tenure.AssetPack.State) {
        switch state {
        case .available(let size): sounds = .available(megabytes: Double(size) / 1e6)
        case .downloading(let progress): sounds = .downloading(fraction: progress.fraction)
        case .installing: sounds = .downloading(fraction: 1)
        case .waiting(.network): sounds = .waiting("Waiting for the network.")
        case .waiting(.consent): sounds = .waiting("Waiting for Wi-Fi. Tap to use mobile data.")
        case .waiting(.space): sounds = .waiting("This device needs more free space.")
        case .waiting(.turn): sounds = .waiting("Another download goes first.")
        case .paused: sounds = .waiting("Paused.")
        case .installed: sounds = .installed
        case .failed(let error):
            sounds = .waiting(error.localizedDescription)
            notice = error.localizedDescription
        case .unknown, .notEntitled, .needsAppUpdate: sounds = .locked
        }
    }
}
