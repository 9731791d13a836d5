import { type OpenedStorage, storageCases } from 'plant-store/testing';

interface Case {
  readonly id: string;
  readonly run: () => Promise<void>;
}

/** Runs the storage cases and others, and prints the failures. Each runtime and driver runs this in its own program. */
export async function report(
  open: () => Promise<OpenedStorage<unknown>>,
  others: readonly Case[] = [],
): Promise<void> {
  const failed: string[] = [];
  const cases = storageCases(open);
  for (const { id, run } of [...cases, ...others])
    await run().catch((error) => failed.push(`${id}: ${error.message}`));
  console.log(JSON.stringify({ cases: cases.length, failed }));
  process.exit(0);
}
