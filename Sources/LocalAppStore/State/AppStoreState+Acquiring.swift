package import Foundation
import TenureAppStore
package import TenureCore

/// Acquiring the app, and refunding it.
extension AppStoreState {
    /// The account gets the app for the first time, or again after a refund. After a refund, the original version and
    /// date remain, and the refund is removed.
    ///
    /// - Parameters:
    ///   - bundleID: the app. Nil for the only app.
    ///   - name: the build of the release; on macOS, its marketing version. Nil for the release on sale now.
    ///   - price: the price in milliunits. Nil for the app's current price.
    package mutating func acquire(
        _ customer: String, app bundleID: String? = nil, on platform: Platform = .iOS, release name: String? = nil,
        price: Int64? = nil, way: AppStoreAcquisition.Way = .purchase, preorderDate: Date? = nil,
        licenseEnds: Date? = nil
    ) throws(AppStoreStateError) {
        let account = try accountIndex(customer)
        let app = try appIndex(bundleID)
        let paid = way == .promoCode ? 0 : price ?? apps[app].price(at: now)
        if let earlier = acquisition(of: account, app: app) {
            guard earlier.refundedAt != nil else { throw .hasApp(customer: customer, app: apps[app].bundleID) }
            acquisitions[earlier.index].refundedAt = nil
            acquisitions[earlier.index].gotAgainAt = now
            acquisitions[earlier.index].price = paid
            acquisitions[earlier.index].way = way
            return
        }
        let release = try self.release(of: app, on: platform, named: name)
        let index = acquisitions.count
        acquisitions.append(
            AppStoreAcquisition(
                index: index, account: account, app: app, platform: platform, release: release, date: now, way: way,
                price: paid, preorderDate: preorderDate, licenseEnds: way == .volumePurchase ? licenseEnds : nil,
                installedPlatform: platform, installedRelease: release))
        accounts[account].acquisitions.append(index)
        // From now on, the account has the purchases that its family shares.
        giveShares(to: account, app: app)
    }

    /// Returns the named release, or the release on sale now if `name` is nil.
    private func release(of app: Int, on platform: Platform, named name: String?) throws(AppStoreStateError)
        -> AppStoreRelease
    {
        let bundleID = apps[app].bundleID
        guard let name else {
            guard let release = apps[app].release(for: platform, at: now) else {
                throw .notReleased(app: bundleID, platform: platform, now)
            }
            return release
        }
        // Several releases may have this name, such as builds of one version on the Mac. Take the latest of them.
        guard
            let release = apps[app].releases.last(where: {
                ($0.platform == platform || platform.inheritsFromIOS && $0.platform == .iOS)
                    && $0.reportedVersion(on: platform) == name && $0.releasedAt <= now
            })
        else { throw .noRelease(app: bundleID, platform: platform, named: name) }
        return release
    }

    /// The customer's devices get the release on sale.
    ///
    /// - Parameter platform: the platform to update. Nil for the platform that is installed.
    mutating func update(
        _ customer: String, app bundleID: String? = nil, on platform: Platform? = nil
    ) throws(AppStoreStateError) {
        let acquisition = try acquisition(by: customer, app: bundleID)
        let platform = platform ?? acquisition.installedPlatform
        let release = try self.release(of: acquisition.app, on: platform, named: nil)
        acquisitions[acquisition.index].installedPlatform = platform
        acquisitions[acquisition.index].installedRelease = release
    }

    /// The App Store refunds the app, and sends no notification.
    mutating func refundApp(_ customer: String, app bundleID: String? = nil) throws(AppStoreStateError) {
        let acquisition = try acquisition(by: customer, app: bundleID)
        guard acquisition.refundedAt == nil, acquisition.price > 0 else {
            throw .appNotBought(customer: customer, app: apps[acquisition.app].bundleID)
        }
        acquisitions[acquisition.index].refundedAt = now
    }

    /// A parent withdraws the consent for a child's app.
    mutating func rescindConsent(_ customer: String, app bundleID: String? = nil) throws(AppStoreStateError) {
        let acquisition = try acquisition(by: customer, app: bundleID)
        notify(.rescindConsent, app: acquisition.app, about: .acquisition(acquisition.index))
    }

    /// Returns the customer's acquisition of the app, which may be refunded.
    func acquisition(by customer: String, app bundleID: String?) throws(AppStoreStateError) -> AppStoreAcquisition {
        let app = try appIndex(bundleID)
        guard let acquisition = acquisition(of: try accountIndex(customer), app: app) else {
            throw .hasNoApp(customer: customer, app: apps[app].bundleID)
        }
        return acquisition
    }
}
