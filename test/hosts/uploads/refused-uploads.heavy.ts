import { refusedUploadsOf } from './refused-uploads.js';

refusedUploadsOf(12);
