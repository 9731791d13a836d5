export { newPlantSchema, plantSchema } from './plant/plant.js';
