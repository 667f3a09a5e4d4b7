/** Reports that the service is available. */
import type { Health } from '../../api/index.ts'
import type { Context } from '../../context.ts'
import { isoTime } from '../../platform/timing.ts'
import { VERSION } from '../../platform/version.ts'

export function health({ clock }: Pick<Context, 'clock'>): Health {
  return { status: 'healthy', timestamp: isoTime(clock.now()), service: 'svc', version: VERSION }
}
