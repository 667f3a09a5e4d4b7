/** Flags that the commands of an airdrop share. */
import { text } from '../command.ts'

export const PLATFORM_ID = text('Platform that this is for, 1 to 64 characters (default svc)', { placeholder: 'ID' })

export const platformId = (given: string | undefined): string => given ?? 'svc'
