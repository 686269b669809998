/// The vertical axis of a chart in the HTML report, with round numbers of customers.
struct CountScale {
    /// The number at the top of the axis.
    let top: Int
    /// The numbers with a line and a label, from 0 to `top`.
    let ticks: [Int]

    /// Creates a scale with a top of at least `highest`. The steps are 1, 2 or 5 times a power of ten, such as 20 or
    /// 500, and there are at most five.
    init(upTo highest: Int) {
        var unit = 1
        // With this power of ten as the step, at most five steps reach `highest`.
        while unit * 5 < highest { unit *= 10 }
        // Use a smaller step if four of these steps reach `highest`.
        let step = [unit / 5, unit / 2, unit].filter { $0 > 0 }.first { $0 * 4 >= highest } ?? max(1, unit)
        top = max(step, (highest + step - 1) / step * step)
        ticks = Array(stride(from: 0, through: top, by: step))
    }
}
