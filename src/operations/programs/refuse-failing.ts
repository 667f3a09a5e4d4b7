/** Refuses transactions with an instruction that fails in the present build of its program, before they are signed. */
import { type FailingInstruction, instructionNamesIn } from '../../chain/program-cache/canary-report.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { type Program, programName } from '../../solana/programs.ts'

/** Throws bad_request with the reason. `force` is what a person said whose own wallet signs. */
export async function refuseFailing(
  { programs }: Pick<Context, 'programs'>,
  transaction: Uint8Array,
  { force = false }: { force?: boolean | undefined } = {},
): Promise<void> {
  if (force) return
  const failing = await programs.failing()
  if (failing.length === 0) return
  const used = instructionNamesIn(transaction)
  const found = failing.find(({ program, name }) => used.some((own) => own.program === program && own.name === name))
  if (found === undefined) return
  const { program, name, act, error, failed_program } = found
  throw badRequest(
    `${changeOf(found)} now fails (tried as: ${act}; ${error}). Nothing was signed. \`svc programs list\` has the verdict; \`force\` (\`--force\`) builds it for your own wallet`,
    { details: { reason: 'program_changed', program, instruction: name, failed_program } },
  )
}

/** Whether an instruction of the program fails in its present build. */
export const failsInTrial = async ({ programs }: Pick<Context, 'programs'>, { id }: Program): Promise<boolean> =>
  (await programs.failing()).some(({ program }) => program === id)

function changeOf({ program, name, failed_program: failed }: FailingInstruction): string {
  if (failed === program) return `${programName(program)} has changed on the cluster, and its instruction ${name}`
  return `${programName(failed)} has changed on the cluster, and the instruction ${name} of ${programName(program)}, which calls it,`
}
