/** What the demo prints: a line while a step runs, its outcome, and a summary at the end. */
import pc from 'picocolors'

export class Report {
  readonly #steps: { name: string; result: string; ms: number }[] = []
  readonly #started = performance.now()
  #checks = 0

  title(text: string): void {
    process.stdout.write(`\n${pc.bold(text)}\n\n`)
  }

  /** Counts a check; throws where it does not hold. */
  expect(holds: boolean, what: string): void {
    this.#checks++
    if (!holds) throw new Error(`expected otherwise: ${what}`)
  }

  /** Says what is left out, and why. */
  skip(name: string, why: string): void {
    process.stdout.write(`${pc.yellow('–')} ${name} ${pc.dim(`left out: ${why}`)}\n`)
  }

  /** Runs one step, which returns what it found out. */
  async step(name: string, run: () => Promise<string>): Promise<void> {
    if (process.stdout.isTTY) process.stdout.write(`${pc.dim('…')} ${name}`)
    const from = performance.now()
    const clear = process.stdout.isTTY ? '\r\x1b[2K' : ''
    try {
      const result = await run()
      const ms = performance.now() - from
      this.#steps.push({ name, result, ms })
      process.stdout.write(`${clear}${pc.green('✔')} ${name} ${pc.dim(`${result} (${Math.round(ms)} ms)`)}\n`)
    } catch (error) {
      process.stdout.write(`${clear}${pc.red('✘')} ${name}\n`)
      throw error
    }
  }

  /** True when every step was checked. */
  summary(): boolean {
    const seconds = ((performance.now() - this.#started) / 1000).toFixed(1)
    process.stdout.write(
      `\n${pc.bold(`${this.#steps.length} steps, ${this.#checks} checks, all passed`)} in ${seconds} s\n\n`,
    )
    return this.#steps.length > 0 && this.#checks > this.#steps.length
  }
}
