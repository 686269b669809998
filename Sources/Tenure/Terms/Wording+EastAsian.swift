/// The wording in Japanese, Korean and Chinese.
extension Wording {
    static let japanese = Wording(
        plurals: .single,
        length: Units("{n}日間", "{n}週間", "{n}か月間", "{n}年間"),
        everyLength: Units("{n}日", "{n}週間", "{n}か月", "{n}年"),
        per: Units("日額{price}", "週額{price}", "月額{price}", "年額{price}"),
        every: "{length}ごとに{price}", free: "{length}無料", upFront: "{length}{price}",
        during: "{length}は{price}", then: "{offer}、その後{price}", once: "{price}（買い切り）")

    static let korean = Wording(
        plurals: .single,
        length: Units("{n}일간", "{n}주간", "{n}개월간", "{n}년간"),
        everyLength: Units("{n}일", "{n}주", "{n}개월", "{n}년"),
        per: Units("매일 {price}", "매주 {price}", "매월 {price}", "매년 {price}"),
        every: "{length}마다 {price}", free: "{length} 무료", upFront: "{length} {price}",
        during: "{length} {price}", then: "{offer}, 이후 {price}", once: "{price} (1회 결제)")

    static let simplifiedChinese = Wording(
        plurals: .single,
        length: Units("{n} 天", "{n} 周", "{n} 个月", "{n} 年"),
        per: Units("每天 {price}", "每周 {price}", "每月 {price}", "每年 {price}"),
        every: "每 {length} {price}", free: "免费试用 {length}", upFront: "{length} {price}",
        during: "前 {length}{price}", then: "{offer}，之后{price}", once: "{price}（一次性购买）")

    static let traditionalChinese = Wording(
        plurals: .single,
        length: Units("{n} 天", "{n} 週", "{n} 個月", "{n} 年"),
        per: Units("每天 {price}", "每週 {price}", "每月 {price}", "每年 {price}"),
        every: "每 {length} {price}", free: "免費試用 {length}", upFront: "{length} {price}",
        during: "前 {length}{price}", then: "{offer}，之後{price}", once: "{price}（一次性購買）")
}
