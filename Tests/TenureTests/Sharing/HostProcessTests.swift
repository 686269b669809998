import Foundation
import TenureCore
import Testing

@testable import Tenure

@Suite struct `The process that the client runs in` {
    private static let app = BundleDescription(path: "/Apps/Calculator.app", bundleID: "com.example.app")
    private static let widget = BundleDescription(
        path: "/Apps/Calculator.app/PlugIns/Widget.appex", bundleID: "com.example.app.widget",
        containingBundleID: "com.example.app")
    private static let clip = BundleDescription(
        path: "/Apps/Clip.app", bundleID: "com.example.app.Clip", isAppClip: true)
    private static let watch = BundleDescription(
        path: "/Apps/Watch.app", bundleID: "com.example.app.watchkitapp", companionBundleID: "com.example.app")

    @Test(arguments: [
        (app, HostProcess.Kind.app), (widget, .appExtension), (clip, .appClip), (watch, .watchApp),
    ])
    func `the bundle tells whether a process is an app, an extension, an App Clip or a watch app`(
        _ bundle: BundleDescription, _ kind: HostProcess.Kind
    ) {
        #expect(HostProcess(bundle).kind == kind)
    }

    @Test(arguments: [widget, clip, watch])
    func `an extension, App Clip or watch app accepts only its own and its main app's bundle ID`(
        _ bundle: BundleDescription
    ) {
        let host = HostProcess(bundle)
        #expect(host.accepts(bundleID: "com.example.app"))
        #expect(host.accepts(bundleID: bundle.bundleID ?? ""))
        for other in ["com.example.ap", "com.example.app.", "com.example.app.pro", "com.other.app", "", "."] {
            #expect(!host.accepts(bundleID: other), "\(other)")
        }
    }

    @Test func `an extension accepts its own and its containing app's bundle ID, and a watch app its companion's`() {
        let proWidget = HostProcess(
            BundleDescription(
                path: "/Apps/Pro.app/PlugIns/Widget.appex", bundleID: "com.example.app.pro.widget",
                containingBundleID: "com.example.app.pro"))
        #expect(proWidget.accepts(bundleID: "com.example.app.pro"))
        #expect(proWidget.accepts(bundleID: "com.example.app.pro.widget"))
        #expect(!proWidget.accepts(bundleID: "com.example.app"))
        let proWatch = HostProcess(
            BundleDescription(
                path: "/Apps/Watch.app", bundleID: "com.example.app.pro.watchkitapp",
                companionBundleID: "com.example.app.pro"))
        #expect(proWatch.accepts(bundleID: "com.example.app.pro"))
        #expect(!proWatch.accepts(bundleID: "com.example.app"))
        // StoreKit may name the iPhone's app to an extension of the watch app.
        let watchWidget = HostProcess(
            BundleDescription(
                path: "/Apps/Watch.app/PlugIns/Widget.appex", bundleID: "com.example.app.watchkitapp.widget",
                companionBundleID: "com.example.app", containingBundleID: "com.example.app.watchkitapp"))
        #expect(watchWidget.kind == .appExtension)
        for id in ["com.example.app", "com.example.app.watchkitapp"] { #expect(watchWidget.accepts(bundleID: id)) }
        #expect(!watchWidget.accepts(bundleID: "com.example"))
    }

    @Test func `an extension keeps its containing app when the store names the extension's bundle ID`() {
        let widget = HostProcess(Self.widget).withBundleID("com.example.app.widget")
        #expect(widget == HostProcess(Self.widget))
        // The app of this extension isn't known yet.
        let unknown = HostProcess(.appExtension, bundleID: "xctest").withBundleID("com.example.app.widget")
        #expect(unknown.accepts(bundleID: "com.example.app") && !unknown.accepts(bundleID: "xctest"))
        #expect(
            HostProcess(Self.app).withBundleID("com.example.calculator").accepts(bundleID: "com.example.calculator"))
    }

    @Test func `an extension asks for no app transaction for a persona, because it may not prompt`() async {
        for (kind, calls) in [(HostProcess.Kind.appExtension, 0), (.app, 1)] {
            let device = Device(FakeStore { $0.distribution = .development }) {
                $0.host = HostProcess(kind, bundleID: InventedApp.bundleID)
                $0.options.persona = .earlyBuyer(build: "37", on: InventedApp.date("2014-05-01"))
            }
            _ = await device.start().settled()
            #expect(device.store.now.appCalls == calls)
        }
    }

    @Test func `an app doesn't accept another app's bundle ID that is a prefix of the app's ID`() {
        let pro = HostProcess(BundleDescription(path: "/Apps/Pro.app", bundleID: "com.example.app.pro"))
        #expect(!pro.accepts(bundleID: "com.example.app"))
        #expect(pro.accepts(bundleID: "com.example.app.pro"))
        #expect(!HostProcess(Self.app).accepts(bundleID: "com.example.app.widget"))
    }

    @Test func `only the app itself may finish transactions, prompt for a sign-in and buy`() {
        for bundle in [Self.app, Self.widget, Self.clip, Self.watch] {
            let host = HostProcess(bundle)
            let isApp = host.kind == .app
            #expect([host.mayFinishTransactions, host.mayPrompt] == [isApp, isApp])
            #expect((host.limit(on: .buy) == nil) == isApp)
            #expect(host.mayShareKeychain == (host.kind != .appClip))
        }
        #expect(HostProcess(Self.clip).limit(on: .buy) == HostLimit(kind: .appClip, action: .buy))
        #expect(
            HostLimit(kind: .appClip, action: .buy).description
                == "an App Clip can't buy; offer the full app with `SKOverlay`")
        #expect(
            HostProcess(Self.watch).limit(on: .restore)?.description
                == "the watch app can't restore purchases; do this in the app on the iPhone")
    }

    @Test func `a process without a bundle ID accepts every bundle ID`() {
        #expect(HostProcess(.app, bundleID: nil).accepts(bundleID: "com.other.app"))
    }

    @Test(
        arguments: [
            (.app, nil, true), (.app, "group.a", true), (.appExtension, nil, true), (.appExtension, "group.a", false),
        ] as [(HostProcess.Kind, String?, Bool)])
    func `only an extension that shares the app's state may not discard the state`(
        kind: HostProcess.Kind, group: String?, ownsState: Bool
    ) {
        var setup = Setup(access: FakeStore(), storage: MemoryStateStorage(), policy: nil)
        setup.host = HostProcess(kind, bundleID: InventedApp.bundleID)
        setup.options.accessGroup = group
        #expect(setup.ownsState == ownsState)
    }

    @Test func `the containing app of an extension is found by the extension's path`() {
        #expect(BundleDescription.containingApp(of: Self.widget.path) == "/Apps/Calculator.app")
        #expect(
            BundleDescription.containingApp(of: "/Apps/Phone.app/Watch/Watch.app/PlugIns/W.appex")
                == "/Apps/Phone.app/Watch/Watch.app")
        #expect(
            BundleDescription.containingApp(of: "/Applications/Mac.app/Contents/PlugIns/W.appex")
                == "/Applications/Mac.app")
        #expect(BundleDescription.containingApp(of: "/usr/lib/W.appex") == nil)
    }

    @Test func `the installation of an extension is read from its containing app, and of a watch app from itself`() {
        #expect(BundleDescription.appPath(of: Self.widget.path) == "/Apps/Calculator.app")
        #expect(
            BundleDescription.appPath(of: "/Applications/Mac.app/Contents/PlugIns/W.appex") == "/Applications/Mac.app")
        #expect(BundleDescription.appPath(of: "/Applications/Mac.app") == "/Applications/Mac.app")
        // The watch app is a separate app on another device.
        #expect(BundleDescription.appPath(of: "/Apps/Phone.app/Watch/Watch.app") == "/Apps/Phone.app/Watch/Watch.app")
        #expect(BundleDescription.appPath(of: "/usr/lib/W.appex") == "/usr/lib/W.appex")
    }

    private func device(_ kind: HostProcess.Kind, bundleID: String) -> Device {
        Device(
            FakeStore { state in
                state.app = InventedApp.newcomer()
                state.transactions = [InventedApp.purchase()]
                state.unfinished = [InventedApp.purchase()]
            }
        ) { $0.host = HostProcess(kind, bundleID: bundleID) }
    }

    @Test func `an extension reads the app's purchases, and finishes and restores nothing`() async throws {
        let device = device(.appExtension, bundleID: InventedApp.bundleID + ".widget")
        let tenure = device.start()
        #expect(await tenure.allows("everything"))
        #expect(await tenure.settled().acquisition != nil)
        device.store.change {
            $0.transactions.append(InventedApp.purchase(InventedApp.yearly, id: "9", type: .nonConsumable))
        }
        let restored = await tenure.restore()
        #expect(restored.signIn == .notAllowed("an extension can't restore purchases; do this in the app"))
        #expect(restored.customer.has("everything"))
        #expect(restored.customer.has("cloud"), "the purchases are read again")
        await tenure.engine.searchAgain()
        #expect(device.store.now.finished.isEmpty)
        #expect(device.store.now.prompts == 0)
    }

    @Test func `the client ignores the app transaction of another app`() async {
        let tenure = device(.app, bundleID: InventedApp.bundleID + ".pro").start()
        let customer = await tenure.settled()
        #expect(customer.acquisition == nil)
        #expect(
            customer.steps.first { $0.name == .appTransaction }?.outcome
                == .failed("the app transaction belongs to another app"))
    }
}
