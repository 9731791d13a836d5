import pg from 'pg';
import { DataTypes, type InferAttributes, type InferCreationAttributes, Model, Sequelize } from 'sequelize';

// A bundler does not see which driver Sequelize requires.
export const sequelize = new Sequelize(process.env.DATABASE_URL ?? '', {
  dialect: 'postgres',
  dialectModule: pg,
  logging: false,
});

export class Plant extends Model<InferAttributes<Plant>, InferCreationAttributes<Plant>> {
  declare id: string;
  declare name: string;
  declare tag: string | null;
  declare createdBy: string;
}

Plant.init(
  {
    id: { type: DataTypes.BIGINT, primaryKey: true },
    name: { type: DataTypes.TEXT, allowNull: false },
    tag: DataTypes.TEXT,
    createdBy: { type: DataTypes.TEXT, allowNull: false },
  },
  { sequelize, tableName: 'express_plants' },
);
