/** Declares the flags of a platform that uses svc: its name and its fee. */
import { integer, text } from '../cli/command.ts'

/** The platform in records if --platform-id is not set. */
export const DEFAULT_PLATFORM = 'svc'
export const PLATFORM_ID = text(`Name of the platform, 1 to 64 characters (default ${DEFAULT_PLATFORM})`, {
  placeholder: 'NAME',
})

export const PLATFORM = {
  platform_id: PLATFORM_ID,
  platform_fee: integer('Lamports that you also pay to the platform wallet (default 0)', {
    min: 0,
    placeholder: 'LAMPORTS',
  }),
}
