// The first step of `npm run release`: what npm would publish without a word, although nobody could find its source.
import { readFileSync } from 'node:fs';

const { version, repository } = JSON.parse(readFileSync('package.json', 'utf8'));
const changelog = readFileSync('.github/CHANGELOG.md', 'utf8');
const faults = [];
if (!repository) {
  faults.push(`package.json has no repository, which the links of the pages and npm's provenance require. Set it:

  npm pkg set repository.type=git repository.url=git+https://github.com/OWNER/plant-store.git
`);
}
if (!changelog.includes(`\n## ${version}\n`))
  faults.push(`.github/CHANGELOG.md has no section ## ${version}`);
if (faults.length > 0) {
  console.error(faults.join('\n'));
  process.exitCode = 1;
}
