/** Checks whom the splits of a schedule pay when they are stored, not only when they are paid. */
import type { ScheduleTerms } from '../../api/fee-schedules.ts'
import type { Context } from '../../context.ts'
import { requireRecipients } from '../recipients.ts'

/** Throws bad_request naming the first split that pays no wallet. */
export async function requireSplitRecipients(
  context: Context,
  { splits, allow_programs }: Pick<ScheduleTerms, 'splits' | 'allow_programs'>,
): Promise<void> {
  const recipients = (splits ?? []).map(({ recipient }, i) => ({ param: `splits.${i}.recipient`, wallet: recipient }))
  await requireRecipients(context, recipients, { allowsPrograms: allow_programs })
}
