/** What the demo prints: a line while a step runs, its outcome, and a summary at the end. */
import pc from 'picocolors'

export class Report {
  readonly #steps: { name: string; result: string; ms: number }[] = []
  readonly #started = performance.now()
  #checks = 0
  #leftOut = ''

  title(text: string): void {
    process.stdout.write(`\n${pc.bold(text)}\n\n`)
  }

  /** Counts a check; throws if it fails. */
  expect(holds: boolean, what: string): void {
    this.#checks++
    if (!holds) throw new Error(`expected otherwise: ${what}`)
  }

  /** Prints a line that is no step. */
  note(text: string): void {
    process.stdout.write(`${pc.dim(text)}\n`)
  }

  /** Reports a part that cannot be shown, why, and the command that brings it; the summary repeats it. */
  leaveOut(what: string, why: string, command: string): void {
    this.#leftOut = `${pc.yellow('–')} ${what} is left out: ${why.replace(/\p{Cc}/gu, ' ')}\n  ${pc.bold(command)} brings it; then run the demo again\n`
    process.stdout.write(this.#leftOut)
  }

  /** Reports a skipped step, and why. */
  skip(name: string, why: string): void {
    process.stdout.write(`${pc.yellow('–')} ${name} ${pc.dim(`left out: ${why}`)}\n`)
  }

  /** Runs one step, which returns its findings. */
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
      `\n${pc.bold(`${this.#steps.length} steps, ${this.#checks} checks, all passed`)} in ${seconds} s\n${this.#leftOut}\n`,
    )
    return this.#steps.length > 0 && this.#checks > this.#steps.length
  }
}
